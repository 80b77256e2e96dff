import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.tools.DumpLogSegments;

/**
 * Reads one command of kafka-dump-log a line, its words parted by tabs. Answers each with a line "OUT_BYTES ERR_BYTES END",
 * where END is "ok" or the exception that ended it, and the bytes of its output and its complaints.
 */
public final class Dump {
    public static void main(String[] none) throws Exception {
        // Without a logging library the first logger says so, which is of no use here.
        PrintStream complaints = System.err;
        System.setErr(new PrintStream(java.io.OutputStream.nullOutputStream()));
        org.slf4j.LoggerFactory.getLogger("highwater");
        System.setErr(complaints);
        PrintStream answers = System.out;
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command; (command = commands.readLine()) != null;) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            String end = "ok";
            try {
                DumpLogSegments.main(command.split("\t"));
            } catch (Throwable thrown) {
                end = thrown.toString().replace('\n', ' ');
            }
            System.out.flush();
            System.err.flush();
            answers.println(out.size() + " " + err.size() + " " + end);
            answers.write(out.toByteArray());
            answers.write(err.toByteArray());
        }
        answers.flush();
    }
}
