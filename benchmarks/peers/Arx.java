import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.AttributeType.Hierarchy.DefaultHierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/**
 * One run of ARX through its public interface: PEOPLE RELEASED K L local|global NAME=STEP,STEP ...
 *
 * <p>Nothing of ARX is here: the class path has it. Without arguments it tells only that it is
 * there. Rows are released as (row, age_low, age_high, wt_low, wt_high, sex, term), where an empty
 * field means "any".
 */
public final class Arx {
    private static final int WARM_ROWS = 300;
    private static final String ANY = "*", TERM = "term";

    /** Share of the records that a step of local recoding generalizes, as ARX's examples have it. */
    private static final double LEAST = 0.01;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            new ARXAnonymizer();
            return;
        }
        try {
            System.out.println(new Arx(arguments).run(Path.of(arguments[0]), Path.of(arguments[1])));
        } catch (OutOfMemoryError error) {
            System.err.println("Memory");
            System.exit(1);
        } catch (Exception error) {
            System.err.println(error);
            System.exit(1);
        }
    }

    private final int k;
    private final int l;
    private final boolean local;
    private final Map<String, int[]> steps = new LinkedHashMap<>();

    private Arx(String[] arguments) {
        k = Integer.parseInt(arguments[2]);
        l = Integer.parseInt(arguments[3]);
        local = arguments[4].equals("local");
        for (String argument : List.of(arguments).subList(5, arguments.length)) {
            String[] parts = argument.split("=", 2);
            steps.put(parts[0], numbers(parts[1]));
        }
    }

    private static int[] numbers(String text) {
        return text.isEmpty()
                ? new int[0]
                : List.of(text.split(",")).stream().mapToInt(Integer::parseInt).toArray();
    }

    /** A first, small run loads the classes and compiles; its time is told apart. */
    private String run(Path people, Path released) throws Exception {
        long began = System.nanoTime();
        Path few = Files.createTempFile("few", ".csv");
        try (var lines = Files.lines(people)) {
            Files.write(few, (Iterable<String>) lines.limit(WARM_ROWS + 1L)::iterator);
        }
        anonymized(few);
        Files.delete(few);
        double warmUp = (System.nanoTime() - began) / 1e9;
        double before = peakMib();
        began = System.nanoTime();
        DataHandle answer = anonymized(people);
        double seconds = (System.nanoTime() - began) / 1e9;
        double peak = peakMib();
        write(answer, released);
        return String.format(
                "{\"seconds\": %s, \"peak_mib\": %s, \"import_mib\": %s, \"warm_up\": %s}",
                seconds, peak, before, warmUp);
    }

    private DataHandle anonymized(Path people) throws Exception {
        Data data = Data.create(people.toString(), StandardCharsets.UTF_8, ',', '"');
        DataHandle input = data.getHandle();
        for (int column = 0; column < input.getNumColumns(); column++) {
            String name = input.getAttributeName(column);
            AttributeType type = AttributeType.INSENSITIVE_ATTRIBUTE;
            if (steps.containsKey(name)) {
                type = hierarchy(input.getDistinctValues(column), steps.get(name));
            } else if (name.equals(TERM) && l > 1) {
                type = AttributeType.SENSITIVE_ATTRIBUTE;
            }
            data.getDefinition().setAttributeType(name, type);
        }
        ARXConfiguration settings = ARXConfiguration.create();
        settings.addPrivacyModel(new KAnonymity(k));
        if (l > 1) {
            settings.addPrivacyModel(new DistinctLDiversity(TERM, l));
        }
        settings.setSuppressionLimit(local ? 1 - LEAST : 1);
        settings.setQualityModel(local ? Metric.createLossMetric(0) : Metric.createLossMetric());
        ARXResult result = new ARXAnonymizer().anonymize(data, settings);
        if (!result.isResultAvailable()) {
            throw new IllegalStateException("ARX finds no transformation");
        }
        DataHandle output = result.getOutput();
        if (local) {
            result.optimizeIterativeFast(output, LEAST);
        }
        return output;
    }

    /** Intervals of each step, each within the next, then "*"; a missing value is a value. */
    private static Hierarchy hierarchy(String[] values, int[] steps) {
        DefaultHierarchy made = Hierarchy.create();
        for (String value : values) {
            String[] levels = new String[steps.length + 2];
            levels[0] = value;
            for (int level = 0; level < steps.length; level++) {
                levels[level + 1] = interval(value, steps[level]);
            }
            levels[steps.length + 1] = ANY;
            made.add(levels);
        }
        return made;
    }

    private static String interval(String value, int step) {
        if (isMissing(value)) {
            return value;
        }
        int low = (int) (Math.floor(Double.parseDouble(value) / step) * step);
        return low + ".." + (low + step - 1);
    }

    private static boolean isMissing(String value) {
        return value.isEmpty() || value.equals("NULL");
    }

    /** What ARX suppresses is published as "any", unless it is too little for the bounds. */
    private void write(DataHandle answer, Path released) throws IOException {
        int[] column = new int[5];
        String[] names = {"row", "age", "wt", "sex", TERM};
        for (int number = 0; number < names.length; number++) {
            column[number] = answer.getColumnIndexOf(names[number]);
        }
        Set<String> terms = new HashSet<>();
        int suppressed = 0;
        for (int row = 0; row < answer.getNumRows(); row++) {
            if (answer.isOutlier(row)) {
                suppressed++;
                terms.add(answer.getValue(row, column[4]));
            }
        }
        boolean enough = suppressed >= k && terms.size() >= l;
        try (PrintWriter file = new PrintWriter(released.toFile(), StandardCharsets.UTF_8)) {
            file.println("row,age_low,age_high,wt_low,wt_high,sex,term");
            for (int row = 0; row < answer.getNumRows(); row++) {
                if (answer.isOutlier(row) && !enough) {
                    continue;
                }
                String sex = answer.getValue(row, column[3]);
                String term = answer.getValue(row, column[4]).replace("\"", "\"\"");
                file.println(
                        answer.getValue(row, column[0])
                                + "," + ends(answer.getValue(row, column[1]))
                                + "," + ends(answer.getValue(row, column[2]))
                                + "," + (isMissing(sex) || sex.equals(ANY) ? "" : sex)
                                + ",\"" + term + "\"");
            }
        }
    }

    /** Inclusive ends of "30..33" or "30.0", none of a missing value and of "*". */
    private static String ends(String value) {
        if (isMissing(value) || value.equals(ANY)) {
            return ",";
        }
        String[] both = value.split("\\.\\.");
        return both[0] + "," + both[both.length - 1];
    }

    /** Peak memory of this process, where the system tells it. */
    private static double peakMib() throws IOException {
        Path told = Path.of("/proc/self/status");
        if (Files.exists(told)) {
            for (String line : Files.readAllLines(told)) {
                if (line.startsWith("VmHWM:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) / 1024.0;
                }
            }
        }
        return Runtime.getRuntime().totalMemory() / 1048576.0;
    }
}
