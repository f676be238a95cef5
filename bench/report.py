# SPDX-License-Identifier: Apache-2.0
"""The results as a Markdown table and as a picture of the latencies."""

import html
import math
import statistics

# (measurement, number, what the table calls it, unit, digits, the aim as (factor, of whom) or a limit)
LINES = [
    ("bulk", "cpu_s_per_gb", "bulk produce, broker CPU", "s/GB", 2, ("Kafka 3.9.1", 0.5)),
    ("bulk", "machine_s_per_gb", "bulk produce, CPU of the machine without the client, until all is on disk", "s/GB", 2, None),
    ("bulk", "mb_per_s", "bulk produce, throughput", "MB/s", 0, None),
    ("bulk_flush", "cpu_s_per_gb", "bulk produce with flush before ack, broker CPU", "s/GB", 2, ("Kafka 3.9.1", 0.5)),
    ("bulk_flush", "mb_per_s", "bulk produce with flush before ack, throughput", "MB/s", 0, None),
    ("fetch", "cpu_s_per_gb", "warm fetch, broker CPU", "s/GB", 2, ("Kafka 3.9.1", 1.0)),
    ("fetch", "mb_per_s", "warm fetch, throughput", "MB/s", 0, None),
    ("latency", "p50", "2,000 records/s, flush before ack: p50", "ms", 2, None),
    ("latency", "p99", "2,000 records/s, flush before ack: p99", "ms", 2, ("Kafka 3.9.1", 0.5)),
    ("latency", "p99.9", "2,000 records/s, flush before ack: p99.9", "ms", 2, None),
    ("latency", "cpu_percent", "2,000 records/s, flush before ack: broker CPU", "% of a core", 1, None),
    ("latency", "requests_per_s", "2,000 records/s, flush before ack: requests that the client made of them", "1/s", 0, None),
    ("latency", "cpu_us_per_request", "2,000 records/s, flush before ack: broker CPU per request", "us", 0, None),
    ("start", "start_ms", "start to first acknowledged record", "ms", 0, ("limit", 200)),
    ("start", "idle_rss_mb", "idle, memory (RSS)", "MB", 0, ("limit", 30)),
    ("start", "idle_cpu_percent", "idle, CPU", "% of a core", 2, ("limit", 0.2)),
    ("partitions", "partitions_rss_mb", "with {partitions:,} partitions written to, memory (RSS)", "MB", 0, ("limit", 60)),
]
SUBJECTS = ["Tailrace", "Kafka 3.9.1", "floor"]


def numbers(results, measurement, key, subject):
    return [run[key] for run in results.get(measurement, {}).get(subject, []) if key in run]


def median(values):
    return statistics.median(values) if values else None


def cell(values, digits):
    if not values:
        return ""
    middle = f"{median(values):,.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def ratio(a, b):
    return f"{a / b:.2f}" if a is not None and b else ""


def aim_text(aim):
    if aim is None:
        return ""
    whom, value = aim
    return f"<= {value:g}" if whom == "limit" else f"<= {value:g} x Kafka"


def reached(aim, tailrace, kafka):
    if aim is None or tailrace is None:
        return ""
    whom, value = aim
    if whom != "limit" and not kafka:
        return ""
    return "yes" if tailrace <= (value if whom == "limit" else value * kafka) else "no"


def table(results):
    """Median, least and greatest of the runs."""
    lines = [
        "| | unit | Tailrace | Kafka 3.9.1 | floor | Tailrace / Kafka | Tailrace / floor | aim | reached |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for measurement, key, name, unit, digits, aim in LINES:
        by_subject = [numbers(results, measurement, key, subject) for subject in SUBJECTS]
        if not any(by_subject):
            continue
        if measurement == "partitions":
            name = name.format(partitions=numbers(results, measurement, "partitions", SUBJECTS[0])[0])
        tailrace, kafka, floor = map(median, by_subject)
        cells = [name, unit, *(cell(values, digits) for values in by_subject)]
        cells += [ratio(tailrace, kafka), ratio(tailrace, floor), aim_text(aim), reached(aim, tailrace, kafka)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def missing(results):
    """What the table lacks of either broker."""
    return [
        f"{name} ({subject})"
        for measurement, key, name, *_ in LINES
        for subject in SUBJECTS[:2]
        if not numbers(results, measurement, key, subject)
    ]


def others(results):
    """How much of the machine was used by somebody else, run by run: what the figures may be wrong by."""
    found = [run["others_percent"] for by in results.values() for runs in by.values() for run in runs if "others_percent" in run]
    return f"{median(found):.0f} % (most {max(found):.0f} %)" if found else "not measured"


# ---- the picture
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 70, 130, 40, 50
POINTS = [("p50", 50), ("p75", 75), ("p90", 90), ("p95", 95), ("p99", 99), ("p99.9", 99.9), ("p99.99", 99.99)]
COLOURS = {"Tailrace": "#0b6e4f", "Kafka 3.9.1": "#b3541e"}


def picture(results):
    """Latency over percentile, the axis stretched by nines, both logarithmic; median of the runs. None without latencies."""
    curves = {}
    for subject in COLOURS:
        values = [median(numbers(results, "latency", key, subject)) for key, _ in POINTS]
        if all(values):
            curves[subject] = values
    if not curves:
        return None
    everything = [value for values in curves.values() for value in values]
    low, high = math.floor(math.log10(min(everything))), math.ceil(math.log10(max(everything)) + 1e-9)
    high = max(high, low + 1)

    def x_of(percent):
        nines = -math.log10(1 - percent / 100)
        first, last = -math.log10(0.5), -math.log10(1 - POINTS[-1][1] / 100)
        return LEFT + (nines - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y_of(ms):
        return HEIGHT - BOTTOM - (math.log10(ms) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="15">Acknowledgement latency, 2,000 records/s, flush before ack</text>',
    ]
    for exponent in range(low, high + 1):
        y = y_of(10.0**exponent)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**exponent:g} ms</text>')
    for name, percent in POINTS:
        x = x_of(percent)
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eee"/>')
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{name}</text>')
    for subject, values in curves.items():
        points = " ".join(f"{x_of(percent):.1f},{y_of(ms):.1f}" for (_, percent), ms in zip(POINTS, values))
        colour = COLOURS[subject]
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        y = y_of(values[-1])
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y + 4:.1f}" fill="{colour}">{html.escape(subject)}</text>')
    return "\n".join([*out, "</svg>", ""])
