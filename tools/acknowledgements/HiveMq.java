import com.hivemq.embedded.EmbeddedHiveMQ;
import java.nio.file.Path;

/** Runs HiveMQ CE. Arguments: folders of its configuration and of its data. Without an extension it accepts all clients. */
class HiveMq {
  public static void main(String[] arguments) {
    final var configuration = Path.of(arguments[0]);
    final var broker = EmbeddedHiveMQ.builder().withConfigurationFolder(configuration)
        .withExtensionsFolder(configuration).withDataFolder(Path.of(arguments[1])).build();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> broker.stop().join()));
    broker.start().join();
    System.out.println("HiveMQ accepts clients");
  }
}
