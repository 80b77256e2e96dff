package oracle;

import com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Has Kafka perform many files of operations, one after another in one process: to start one for each takes longer than the
 * operations do. Reads names from its input; of NAME.ops it makes NAME.jsonl, unless Kafka cannot close the log any more.
 */
final class RecordAll {
    public static void main(String[] arguments) throws Exception {
        Path scratch = Files.createDirectories(Path.of(arguments[0]));
        BufferedReader names = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String name = names.readLine(); name != null; name = names.readLine()) {
            List<String> asked = Files.readAllLines(Path.of(name + ".ops"));
            try {
                String answer = String.join("\n", record(asked, Files.createTempDirectory(scratch, "w"))) + "\n";
                Files.writeString(Path.of(name + ".jsonl"), answer);
            } catch (Throwable end) {
                System.err.println(name + ": " + end);
            }
        }
        // Some of Kafka's threads would wait for ever.
        System.exit(0);
    }

    private static List<String> record(List<String> asked, Path work) throws Exception {
        Harness harness = new Harness(work, (ObjectNode) Harness.JSON.readTree(asked.get(0)));
        for (String operation : asked.subList(1, asked.size())) {
            if (!harness.broken) harness.step((ObjectNode) Harness.JSON.readTree(operation));
        }
        harness.finish();
        return harness.lines;
    }
}
