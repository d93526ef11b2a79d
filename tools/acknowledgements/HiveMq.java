import com.hivemq.embedded.EmbeddedHiveMQ;
import java.nio.file.Path;

/** Runs HiveMQ CE in the folder of the first argument. Without an extension it accepts all clients. */
class HiveMq {
  public static void main(String[] arguments) {
    final Path home = Path.of(arguments[0]);
    final var broker = EmbeddedHiveMQ.builder().withConfigurationFolder(home).withDataFolder(home.resolve("data"))
        .withExtensionsFolder(home.resolve("extensions")).build();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> broker.stop().join()));
    broker.start().join();
    System.out.println("HiveMQ accepts clients");
  }
}
