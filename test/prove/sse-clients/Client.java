import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Iterator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Prints the time of arrival (Unix milliseconds) and the payload of each event, when its blank line has been read. */
class Client {
  /** The certificate of a test is not verified. */
  static class Trusting implements X509TrustManager {
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  public static void main(String[] args) throws Exception {
    System.setProperty("jdk.internal.httpclient.disableHostnameVerification", "true");
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Trusting()}, null);
    HttpClient client = HttpClient.newBuilder().sslContext(context).build();
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
