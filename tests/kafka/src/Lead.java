import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Queue;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.AlterPartitionRequest;
import org.apache.kafka.common.requests.AlterPartitionResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.metadata.ConfigRepository;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.NodeToControllerChannelManager;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.partition.AlterPartitionListener;
import org.apache.kafka.server.partition.DefaultAlterPartitionManager;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchParams;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpoints;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.CleanerConfig;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

import kafka.cluster.DelayedOperations;
import kafka.cluster.Partition;
import scala.Option;

/**
 * A real Partition that leads, with a real log and a real AlterPartitionManager, under a clock and a controller held in the
 * hand. Reads one command a line, its words parted by tabs:
 *
 * <pre>
 * begin DIRECTORY BROKER BROKER_EPOCH LAG_MS NAME=VALUE…   begins anew, with these configs of the topic
 * TIME_MS brokers ID:EPOCH…                                 who is alive in the metadata
 * TIME_MS news LEADER_EPOCH PARTITION_EPOCH REPLICAS ISR    the metadata say that it leads
 * TIME_MS append ACKS RECORDS                               a batch of a producer
 * TIME_MS fetch FOLLOWER BROKER_EPOCH OFFSET                a follower fetches
 * TIME_MS lag                                               the periodic look for followers that lag
 * TIME_MS answer LEADER_EPOCH PARTITION_EPOCH ISR           the controller grants what it was asked for
 * TIME_MS refuse ERROR_CODE                                 or does not
 * </pre>
 *
 * Answers each with a line: where the partition stands, and how often it has asked the controller for an ISR, the last time
 * for which one.
 */
public final class Lead {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final Uuid TOPIC = new Uuid(7, 7);
    private static final OffsetCheckpoints NOWHERE = (directory, partition) -> Optional.empty();

    private final int me;
    private final StillClock clock = new StillClock(0);
    private final Map<Integer, Long> alive = new HashMap<>();
    private final Queue<RequestCompletionHandler> unanswered = new ArrayDeque<>();
    private int asked = 0;
    private String lastAsked = "none";
    private final Partition partition;

    public static void main(String[] none) throws Exception {
        // Without a logging library the first logger says so, which is of no use here.
        PrintStream complaints = System.err;
        System.setErr(new PrintStream(java.io.OutputStream.nullOutputStream()));
        org.slf4j.LoggerFactory.getLogger("highwater");
        System.setErr(complaints);
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Lead lead = null;
        for (String line; (line = lines.readLine()) != null;) {
            String[] words = line.split("\t");
            if (words[0].equals("begin"))
                lead = new Lead(words);
            else
                lead.perform(words);
            answers.println(lead.told());
        }
        answers.flush();
    }

    private Lead(String[] words) throws Exception {
        me = Integer.parseInt(words[2]);
        long epoch = Long.parseLong(words[3]);
        Map<String, String> config = new HashMap<>();
        for (String setting : Arrays.copyOfRange(words, 5, words.length))
            config.put(setting.split("=")[0], setting.split("=")[1]);
        partition = new Partition(PARTITION, Long.parseLong(words[4]), me, () -> epoch, clock,
            nothing(AlterPartitionListener.class), nobodyWaits(), metadata(), logs(new File(words[1]), new LogConfig(config)),
            new DefaultAlterPartitionManager(controller(), nothing(Scheduler.class), me, () -> epoch), Option.apply(TOPIC));
    }

    private void perform(String[] words) throws Exception {
        clock.now = Long.parseLong(words[0]);
        switch (words[1]) {
            case "brokers" -> {
                alive.clear();
                for (String broker : Arrays.copyOfRange(words, 2, words.length))
                    alive.put(Integer.valueOf(broker.split(":")[0]), Long.valueOf(broker.split(":")[1]));
            }
            case "news" -> news(Integer.parseInt(words[2]), Integer.parseInt(words[3]), ids(words[4]), ids(words[5]));
            case "append" -> {
                SimpleRecord[] records = new SimpleRecord[Integer.parseInt(words[3])];
                Arrays.fill(records, new SimpleRecord(clock.now, "record".getBytes(StandardCharsets.UTF_8)));
                partition.appendRecordsToLeader(MemoryRecords.withRecords(Compression.NONE, records), AppendOrigin.CLIENT,
                    Integer.parseInt(words[2]), RequestLocal.noCaching(), VerificationGuard.SENTINEL, (short) 2);
            }
            case "fetch" -> {
                FetchParams fetch = new FetchParams(Integer.parseInt(words[2]), Long.parseLong(words[3]), 500, 1, 1 << 20,
                    FetchIsolation.LOG_END, Optional.empty());
                FetchRequest.PartitionData from = new FetchRequest.PartitionData(TOPIC, Long.parseLong(words[4]), 0, 1 << 20,
                    Optional.of(partition.getLeaderEpoch()));
                partition.fetchRecords(fetch, from, clock.now, 1 << 20, true, true);
            }
            case "lag" -> partition.maybeShrinkIsr();
            case "answer" -> answer(new AlterPartitionResponseData.PartitionData().setLeaderId(me)
                .setLeaderEpoch(Integer.parseInt(words[2])).setPartitionEpoch(Integer.parseInt(words[3])).setIsr(ids(words[4])));
            case "refuse" -> answer(new AlterPartitionResponseData.PartitionData().setErrorCode(Short.parseShort(words[2])));
            default -> throw new IllegalArgumentException(words[1]);
        }
    }

    private void news(int leaderEpoch, int partitionEpoch, List<Integer> replicas, List<Integer> isr) {
        PartitionRegistration registration = new PartitionRegistration.Builder()
            .setReplicas(array(replicas)).setDirectories(DirectoryId.unassignedArray(replicas.size())).setIsr(array(isr))
            .setLeader(me).setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
            .setLeaderEpoch(leaderEpoch).setPartitionEpoch(partitionEpoch).build();
        partition.makeLeader(registration, true, NOWHERE, Option.apply(TOPIC), Option.empty());
    }

    private void answer(AlterPartitionResponseData.PartitionData answer) {
        AlterPartitionResponseData data = new AlterPartitionResponseData().setTopics(List.of(
            new AlterPartitionResponseData.TopicData().setTopicId(TOPIC).setPartitions(List.of(answer))));
        unanswered.remove().onComplete(new ClientResponse(null, null, "controller", clock.now, clock.now, false, null, null,
            new AlterPartitionResponse(data)));
    }

    private String told() {
        return partition.log().isEmpty() ? "nothing" : "isr=" + list(partition.partitionState().isr())
            + " maximal=" + list(partition.partitionState().maximalIsr()) + " epoch=" + partition.getPartitionEpoch()
            + " hw=" + partition.log().get().highWatermark() + " end=" + partition.log().get().logEndOffset()
            + " asked=" + asked + ":" + lastAsked;
    }

    /** The connection to a controller that answers when it is told to. */
    private NodeToControllerChannelManager controller() {
        return stub(NodeToControllerChannelManager.class, (method, arguments) -> {
            if (method.equals("sendRequest")) {
                AlterPartitionRequestData request = ((AlterPartitionRequest.Builder) arguments[0]).build((short) 3).data();
                List<AlterPartitionRequestData.BrokerState> isr =
                    request.topics().get(0).partitions().get(0).newIsrWithEpochs();
                asked++;
                lastAsked = list(isr.stream().map(AlterPartitionRequestData.BrokerState::brokerId).toList());
                unanswered.add((RequestCompletionHandler) arguments[1]);
            }
            return null;
        });
    }

    private MetadataCache metadata() {
        return stub(MetadataCache.class, (method, arguments) -> switch (method) {
            case "getAliveBrokerEpoch" -> Optional.ofNullable(alive.get(arguments[0]));
            case "hasAliveBroker" -> alive.containsKey(arguments[0]);
            case "isBrokerFenced" -> !alive.containsKey(arguments[0]);
            case "isBrokerShuttingDown" -> false;
            default -> throw new IllegalArgumentException(method);
        });
    }

    private LogManager logs(File directory, LogConfig config) throws Exception {
        ConfigRepository configs = resource -> new Properties();
        return new LogManager(List.of(directory), List.of(), configs, config, new CleanerConfig(false), 1, 60_000, 60_000,
            60_000, 300_000, 900_000, new ProducerStateManagerConfig(86_400_000, false), 600_000, nothing(Scheduler.class),
            new BrokerTopicStats(), new LogDirFailureChannel(1), clock, false, 0,
            (cleaner, directories, all, failures, time) -> null);
    }

    private DelayedOperations nobodyWaits() {
        return new DelayedOperations(Option.apply(TOPIC), PARTITION, null, null, null, null) {
            @Override public void checkAndCompleteAll() {
            }

            @Override public int numDelayedDelete() {
                return 0;
            }
        };
    }

    private interface Behaviour {
        Object call(String method, Object[] arguments);
    }

    private static <T> T stub(Class<T> of, Behaviour behaviour) {
        return of.cast(Proxy.newProxyInstance(Lead.class.getClassLoader(), new Class<?>[] {of},
            (proxy, method, arguments) -> behaviour.call(method.getName(), arguments)));
    }

    private static <T> T nothing(Class<T> of) {
        return stub(of, (method, arguments) -> null);
    }

    private static List<Integer> ids(String list) {
        return Arrays.stream(list.split(",")).map(Integer::valueOf).toList();
    }

    private static int[] array(List<Integer> ids) {
        return ids.stream().mapToInt(Integer::intValue).toArray();
    }

    private static String list(java.util.Collection<Integer> ids) {
        return new TreeSet<>(ids).stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
