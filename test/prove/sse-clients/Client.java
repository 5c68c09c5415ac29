import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.Iterator;

/** Prints the time of arrival (Unix milliseconds) and the payload of each event, when its blank line has been read. */
class Client {
  public static void main(String[] args) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    HttpRequest request = HttpRequest.newBuilder(URI.create(args[0])).build();
    HttpResponse<java.util.stream.Stream<String>> answer =
        client.send(request, HttpResponse.BodyHandlers.ofLines());
    String data = null;
    for (Iterator<String> lines = answer.body().iterator(); lines.hasNext(); ) {
      String line = lines.next();
      if (line.startsWith("data: ")) data = line.substring("data: ".length());
      if (!line.isEmpty() || data == null) continue;
      System.out.println(Instant.now().toEpochMilli() + " " + data);
      data = null;
    }
  }
}
