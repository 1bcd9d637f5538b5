// ARX: the optimal full-domain recoding, at most 5% of the records suppressed; run with its jar on the class path:
//     java -cp arx.jar Arx.java TABLE.csv OUT.csv QUASI,IDENTIFIERS SENSITIVE K HIERARCHIES
import java.io.File;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.*;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

public class Arx {
    public static void main(String[] given) throws Exception {
        double[] seconds = new double[2];
        for (int turn = 0; turn < 2; turn++) {
            long began = cpu();
            Data data = Data.create(given[0], StandardCharsets.UTF_8, ',');
            for (String name : given[2].split(",")) {
                data.getDefinition().setAttributeType(
                    name, Hierarchy.create(new File(given[5], name + ".csv"), StandardCharsets.UTF_8, ','));
            }
            data.getDefinition().setAttributeType(given[3], AttributeType.INSENSITIVE_ATTRIBUTE);
            ARXConfiguration how = ARXConfiguration.create();
            how.addPrivacyModel(new KAnonymity(Integer.parseInt(given[4])));
            how.setSuppressionLimit(0.05d);
            how.setQualityModel(Metric.createLossMetric());
            ARXResult made = new ARXAnonymizer().anonymize(data, how);
            made.getOutput(false).save(given[1], ',');
            seconds[turn] = (cpu() - began) / 1e9;
        }
        System.out.println("{\"cold\": " + seconds[0] + ", \"warm\": " + seconds[1] + ", \"found\": null}");
    }

    static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean)
            java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
