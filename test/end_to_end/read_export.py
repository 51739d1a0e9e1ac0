#!/usr/bin/env python3
"""Reads an export with the format's own messages, and prints it as JSON for export_test.py; runs in build/readers, which has them.

    build/readers/bin/python test/end_to_end/read_export.py perfetto trace.pftrace
    build/readers/bin/python test/end_to_end/read_export.py otlp spans.jsonl
"""

import json
import sys

SLICE_BEGIN, SLICE_END, INSTANT = 1, 2, 3


class Names:
    """What Perfetto's packets say once and number afterwards."""

    KINDS = ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values")

    def take(self, packet):
        if packet.sequence_flags & 1:
            for kind in self.KINDS:
                setattr(self, kind, {})
        for kind in self.KINDS:
            for entry in getattr(packet.interned_data, kind):
                getattr(self, kind)[entry.iid] = entry.str.decode() if hasattr(entry, "str") else entry.name

    def values(self, event):
        values = {}
        for annotation in event.debug_annotations:
            which = annotation.WhichOneof("value")
            value = getattr(annotation, which)
            values[self.debug_annotation_names[annotation.name_iid]] = (
                self.debug_annotation_string_values[value] if which == "string_value_iid" else
                json.loads(value) if which == "legacy_json_value" else value)
        return values


def read_perfetto(path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    tracks, names, events, clocks = {}, Names(), [], {}
    for packet in trace.packet:
        for clock in packet.clock_snapshot.clocks:
            clocks[clock.clock_id] = clock.timestamp
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            above = tracks[track.parent_uuid] + " / " if track.HasField("parent_uuid") else ""
            assert track.uuid not in tracks, "described once"
            tracks[track.uuid] = above + track.name
        if packet.HasField("track_event"):
            event = packet.track_event
            names.take(packet)
            events.append({"type": event.type, "time": packet.timestamp, "track": tracks[event.track_uuid]})
            if event.type != SLICE_END:
                events[-1] |= {"name": names.event_names[event.name_iid], "class": names.event_categories[event.category_iids[0]],
                               "values": names.values(event), "to": list(event.flow_ids), "from": list(event.terminating_flow_ids)}
    return {"clocks": clocks, "tracks": list(tracks.values()), "slices": put_together(events)}


def put_together(events):
    """Slices as Perfetto makes them: by time, of a track's the one that began last ends first."""
    open_slices, slices = {}, []
    for event in sorted(events, key=lambda event: event["time"]):
        stack = open_slices.setdefault(event["track"], [])
        if event["type"] == SLICE_END:
            stack.pop()["end"] = event["time"]
            continue
        slices.append(event)
        if event["type"] == SLICE_BEGIN:
            stack.append(event)
    return slices


def read_otlp(path):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
    value = lambda attribute: getattr(attribute.value, attribute.value.WhichOneof("value"))
    spans = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            request = json_format.Parse(line, trace_service_pb2.ExportTraceServiceRequest())
            for resource in request.resource_spans:
                about = {one.key: value(one) for one in resource.resource.attributes}
                spans += [{"resource": about, "name": span.name, "begin": span.start_time_unix_nano, "end": span.end_time_unix_nano,
                           "trace": span.trace_id.hex(), "id": span.span_id.hex(), "parent": span.parent_span_id.hex(),
                           "status": span.status.message, "values": {one.key: value(one) for one in span.attributes},
                           "links": [link.span_id.hex() for link in span.links]}
                          for scope in resource.scope_spans for span in scope.spans]
    return spans


if __name__ == "__main__":
    json.dump({"perfetto": read_perfetto, "otlp": read_otlp}[sys.argv[1]](sys.argv[2]), sys.stdout)
