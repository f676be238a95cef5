// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's command-line tools one after another in one JVM.
 *
 * <p>Happy path: a line on standard input is a step, `out TAB err TAB in TAB class TAB argument...` (`-`: empty input);
 * its main() runs with these files as its standard streams, and the answer on standard output is a line with its exit
 * status. What a tool would do at the end of the process is done at the end of its step. Failure modes: an exception
 * that main() lets out is printed to the step's err and counts as status 1, as the java command has it; System.exit
 * itself is not caught, the tools use Exit.
 */
public final class Launcher {
    /** Thrown in place of ending the process. */
    private static final class Exited extends Error {
        private static final long serialVersionUID = 1;

        Exited() {
            super("EXITED", null, false, false); // tools.py knows the word: some tools print whatever they catch
        }

        @Override
        public String toString() {
            return "EXITED";
        }
    }

    /** A stream whose target changes with each step: Scala's Console keeps the first System.out that it saw. */
    private static final class Switch extends OutputStream {
        private volatile OutputStream target = OutputStream.nullOutputStream();

        @Override
        public void write(int value) throws IOException {
            target.write(value);
        }

        @Override
        public void write(byte[] data, int offset, int length) throws IOException {
            target.write(data, offset, length);
        }

        @Override
        public void flush() throws IOException {
            target.flush();
        }
    }

    private static final Switch OUT = new Switch();
    private static final Switch ERR = new Switch();
    private static final List<Runnable> AT_END = new ArrayList<>();
    private static Integer status;

    private Launcher() {
    }

    private static synchronized void exit(int code) {
        if (status == null) status = code;
        throw new Exited();
    }

    private static void step(String className, String[] arguments) throws Exception {
        status = null;
        try {
            Class.forName(className).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Exited)) {
                System.err.print("Exception in thread \"main\" ");
                thrown.getCause().printStackTrace();
                if (status == null) status = 1;
            }
        }
        if (status == null) status = 0;
        AT_END.forEach(Runnable::run);
        AT_END.clear();
    }

    public static void main(String[] unused) throws Exception {
        PrintStream answers = System.out;
        BufferedReader steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(new PrintStream(OUT, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ERR, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((code, message) -> exit(code));
        Exit.setHaltProcedure((code, message) -> exit(code));
        Exit.setShutdownHookAdder((name, runnable) -> AT_END.add(runnable));
        for (String line = steps.readLine(); line != null; line = steps.readLine()) {
            String[] words = line.split("\t", -1);
            try (OutputStream out = new FileOutputStream(words[0]); OutputStream err = new FileOutputStream(words[1]);
                 InputStream in = words[2].equals("-") ? new ByteArrayInputStream(new byte[0]) : new FileInputStream(words[2])) {
                OUT.target = out;
                ERR.target = err;
                System.setIn(in);
                step(words[3], Arrays.copyOfRange(words, 4, words.length));
                System.out.flush();
                System.err.flush();
                OUT.target = OutputStream.nullOutputStream();
                ERR.target = OutputStream.nullOutputStream();
            }
            answers.println("status " + status);
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }
}
