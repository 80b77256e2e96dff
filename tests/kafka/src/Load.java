import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.CleanShutdownFileHandler;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Reads one folder to load a line: "DATA_DIRECTORY TOPIC PARTITION NOW_MS NAME=VALUE…", parted by tabs. The log is loaded as
 * by a broker that starts at that time, with the directory's checkpoints. Answers each with a line: what was recovered.
 */
public final class Load {
    public static void main(String[] none) throws Exception {
        // Without a logging library the first logger says so, which is of no use here.
        PrintStream complaints = System.err;
        System.setErr(new PrintStream(java.io.OutputStream.nullOutputStream()));
        org.slf4j.LoggerFactory.getLogger("highwater");
        System.setErr(complaints);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null;) answers.println(load(line.split("\t")));
        answers.flush();
    }

    private static String load(String[] words) throws Exception {
        File directory = new File(words[0]);
        TopicPartition partition = new TopicPartition(words[1], Integer.parseInt(words[2]));
        Map<String, String> config = new HashMap<>();
        for (int i = 4; i < words.length; i++) {
            String[] setting = words[i].split("=", 2);
            config.put(setting[0], setting[1]);
        }
        long recoveryPoint = checkpoint(directory, "recovery-point-offset-checkpoint", partition);
        long logStart = checkpoint(directory, "log-start-offset-checkpoint", partition);
        long highWatermark = checkpoint(directory, "replication-offset-checkpoint", partition);
        boolean clean = new CleanShutdownFileHandler(directory.getPath()).exists();
        UnifiedLog log = UnifiedLog.create(new File(directory, partition.toString()), new LogConfig(config), logStart,
            recoveryPoint, nobody(), new BrokerTopicStats(), new StillClock(Long.parseLong(words[3])), 900_000,
            new ProducerStateManagerConfig(86_400_000, false), 600_000, new LogDirFailureChannel(10), clean, Optional.empty());
        log.updateHighWatermark(highWatermark);
        return told(log);
    }

    private static long checkpoint(File directory, String name, TopicPartition partition) throws Exception {
        return new OffsetCheckpointFile(new File(directory, name), null).read().getOrDefault(partition, 0L);
    }

    /** A scheduler that does nothing: what is recovered is looked at before anything else happens. */
    private static Scheduler nobody() {
        return (Scheduler) Proxy.newProxyInstance(Load.class.getClassLoader(), new Class<?>[] {Scheduler.class},
            (proxy, method, arguments) -> null);
    }

    private static String told(UnifiedLog log) throws Exception {
        StringBuilder told = new StringBuilder();
        told.append("start=").append(log.logStartOffset()).append(" end=").append(log.logEndOffset());
        told.append(" hw=").append(log.highWatermark()).append(" recoveryPoint=").append(log.recoveryPoint());
        for (LogSegment segment : log.logSegments()) {
            told.append(" segment=").append(segment.baseOffset()).append(':').append(segment.size());
            told.append(':').append(segment.readMaxTimestampAndOffsetSoFar().timestamp());
            told.append(':').append(segment.offsetIndex().entries()).append(':').append(segment.timeIndex().entries());
        }
        for (EpochEntry epoch : log.leaderEpochCache().epochEntries())
            told.append(" epoch=").append(epoch.epoch()).append(':').append(epoch.startOffset());
        Map<Long, ProducerStateEntry> producers = new TreeMap<>(log.producerStateManager().activeProducers());
        for (ProducerStateEntry producer : producers.values()) {
            told.append(" producer=").append(producer.producerId()).append(':').append(producer.producerEpoch());
            told.append(':').append(producer.lastDataOffset()).append(':').append(producer.batchMetadata().size());
        }
        return told.toString();
    }
}
