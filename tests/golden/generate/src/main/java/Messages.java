// SPDX-License-Identifier: Apache-2.0
// Golden bytes of messages: for every version of every message that Tailrace declares, values made up along Kafka's own
// definition (inside its jars), turned into Kafka's own message class, and written by it. One line each:
// name, version, bytes in hexadecimal, Kafka's own JSON of the message.
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;

public class Messages {
    static final ObjectMapper MAPPER = new ObjectMapper().configure(JsonParser.Feature.ALLOW_COMMENTS, true);

    enum Style { FULL, MIXED, SPARSE }

    static final class Maker {
        final Random random;
        final Style style;
        final int version;
        final Map<String, JsonNode> common = new HashMap<>();

        Maker(JsonNode definition, int version, Style style) {
            this.version = version;
            this.style = style;
            random = new Random(definition.get("name").asText().hashCode() * 31L + version * 7L + style.ordinal());
            if (definition.has("commonStructs"))
                for (JsonNode s : definition.get("commonStructs")) common.put(s.get("name").asText(), s.get("fields"));
        }

        boolean in(JsonNode field, String key) {
            if (!field.has(key)) return false;
            String range = field.get(key).asText();
            if (range.equals("none")) return false;
            String[] ends = range.split("-");
            if (range.endsWith("+")) return version >= Integer.parseInt(range.substring(0, range.length() - 1));
            return version >= Integer.parseInt(ends[0]) && version <= Integer.parseInt(ends[ends.length - 1]);
        }

        ObjectNode struct(JsonNode fields) {
            ObjectNode out = MAPPER.createObjectNode();
            for (JsonNode field : fields) {
                if (!in(field, "versions")) continue;
                if (field.has("tag") && style != Style.FULL && random.nextInt(2) == 0) continue;
                String name = field.get("name").asText();
                String key = Character.toLowerCase(name.charAt(0)) + name.substring(1);
                boolean nullable = in(field, "nullableVersions");
                if (nullable && (style == Style.SPARSE || style == Style.MIXED && random.nextInt(3) == 0)) {
                    out.putNull(key);
                } else {
                    out.set(key, value(field, field.get("type").asText()));
                }
            }
            return out;
        }

        JsonNode value(JsonNode field, String type) {
            if (type.startsWith("[]")) {
                ArrayNode array = MAPPER.createArrayNode();
                int count = style == Style.FULL ? 1 + random.nextInt(2) : style == Style.SPARSE ? random.nextInt(2) : random.nextInt(3);
                for (int i = 0; i < count; i++) array.add(value(field, type.substring(2)));
                return array;
            }
            switch (type) {
                case "bool": return MAPPER.getNodeFactory().booleanNode(random.nextBoolean());
                case "int8": return number((byte) random.nextInt());
                case "int16": return number((short) random.nextInt());
                case "uint16": return number(random.nextInt(65536));
                case "int32": return number(random.nextInt(4) == 0 ? -1 : random.nextInt());
                case "uint32": return number(random.nextInt() & 0xffffffffL);
                case "int64": return number(random.nextInt(4) == 0 ? -1 : random.nextLong());
                case "float64": return MAPPER.getNodeFactory().numberNode(random.nextInt(1000) / 4.0);
                case "uuid": return MAPPER.getNodeFactory().textNode(new Uuid(random.nextLong(), random.nextLong()).toString());
                case "string": return MAPPER.getNodeFactory().textNode(text());
                case "bytes":
                case "records": return MAPPER.getNodeFactory().binaryNode(bytes());
                default:
                    return struct(field.has("fields") ? field.get("fields") : common.get(type));
            }
        }

        JsonNode number(long n) {
            return MAPPER.getNodeFactory().numberNode(n);
        }

        String text() {
            String[] texts = {"", "a", "orders", "w\u00f6rter", "q\"\\\n", "x".repeat(130)};
            return texts[random.nextInt(style == Style.FULL ? 5 : random.nextInt(40) == 0 ? 6 : 5)];
        }

        byte[] bytes() {
            byte[] out = new byte[random.nextInt(6)];
            random.nextBytes(out);
            return out;
        }
    }

    static String hex(ByteBuffer buffer) {
        StringBuilder out = new StringBuilder();
        for (int i = buffer.position(); i < buffer.limit(); i++) out.append(String.format("%02x", buffer.get(i)));
        return out.length() == 0 ? "-" : out.toString();
    }

    static Class<?> dataClass(String name) throws ClassNotFoundException {
        String[] candidates = {"org.apache.kafka.common.message." + name + "Data", "org.apache.kafka.common.message." + name,
            "org.apache.kafka.coordinator.group.generated." + name, "org.apache.kafka.coordinator.transaction.generated." + name};
        for (String candidate : candidates) {
            try {
                return Class.forName(candidate);
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        throw new ClassNotFoundException(name);
    }

    static void write(PrintStream out, JsonNode definition) throws Exception {
        String name = definition.get("name").asText();
        Class<?> data = dataClass(name);
        Class<?> converter = Class.forName(data.getName() + "JsonConverter");
        Method read = converter.getMethod("read", JsonNode.class, short.class);
        Method print = converter.getMethod("write", data, short.class, boolean.class);
        String[] ends = definition.get("validVersions").asText().split("-");
        for (short v = Short.parseShort(ends[0]); v <= Short.parseShort(ends[ends.length - 1]); v++) {
            String last = "";
            for (Style style : Style.values()) {
                Message message = (Message) read.invoke(null, new Maker(definition, v, style).struct(definition.get("fields")), v);
                ByteBuffer bytes = MessageUtil.toByteBuffer(message, v);
                String line = name + " " + v + " " + hex(bytes) + " " + MAPPER.writeValueAsString(print.invoke(null, message, v, false));
                if (!line.equals(last)) out.println(line);
                last = line;
            }
        }
    }

    // Arguments: the output, then the names of the messages.
    public static void main(String[] args) throws Exception {
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[0])), false, "UTF-8")) {
            for (int i = 1; i < args.length; i++) {
                String path = "common/message/" + args[i] + ".json";
                try (InputStream in = Messages.class.getClassLoader().getResourceAsStream(path)) {
                    write(out, MAPPER.readTree(in));
                }
            }
        }
    }
}
