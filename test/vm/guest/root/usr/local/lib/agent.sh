# A line in: a script in base64. A line out: its exit code, and what it printed, in base64.
exec 3<>/dev/virtio-ports/agent
echo ready >&3
while read -r line <&3; do
  output=$(base64 -d <<<"$line" | bash 2>&1 3>&-)
  code=$?
  echo "$code $(base64 -w0 <<<"$output")" >&3
done
