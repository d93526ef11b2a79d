import com.hivemq.embedded.EmbeddedExtension;
import com.hivemq.embedded.EmbeddedHiveMQ;
import com.hivemq.extension.sdk.api.ExtensionMain;
import com.hivemq.extension.sdk.api.auth.SimpleAuthenticator;
import com.hivemq.extension.sdk.api.parameter.*;
import com.hivemq.extension.sdk.api.services.Services;
import java.nio.file.Path;

/** Runs HiveMQ CE in the folder of the first argument, and accepts all clients. */
class HiveMq {
  public static void main(String[] arguments) {
    final Path home = Path.of(arguments[0]);
    final ExtensionMain allowAll = new ExtensionMain() {
      public void extensionStart(ExtensionStartInput input, ExtensionStartOutput output) {
        final SimpleAuthenticator accept = (client, answer) -> answer.authenticateSuccessfully();
        Services.securityRegistry().setAuthenticatorProvider(ignored -> accept);
      }
      public void extensionStop(ExtensionStopInput input, ExtensionStopOutput output) {}
    };
    final var broker = EmbeddedHiveMQ.builder().withConfigurationFolder(home).withDataFolder(home.resolve("data"))
        .withExtensionsFolder(home.resolve("extensions"))
        .withEmbeddedExtension(EmbeddedExtension.builder().withId("allow-all").withName("allow-all").withVersion("1")
            .withExtensionMain(allowAll).build()).build();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> broker.stop().join()));
    broker.start().join();
    System.out.println("HiveMQ accepts clients");
  }
}
