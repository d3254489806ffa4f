#!/usr/bin/env python3
"""Prints the Grafana dashboard: davit.dashboard.json is its output, checked in so that nobody has to run it.

A panel is a title, a unit of Grafana and its queries; the layout follows from their order.
"""

import json

JOB = 'job=~"$job"'
AT = f'{JOB}, instance=~"$instance"'
REGION = f'{JOB}, region=~"$region"'


def rate(metric, labels=AT):
    return f"rate({metric}{{{labels}}}[$__rate_interval])"


def quantile(q, metric, by=""):
    return f"histogram_quantile({q}, sum by (le{by}) ({rate(metric + '_bucket')}))"


# (row, [(title, unit, kind, [(query, legend)])])
ROWS = [
    ("Fleet", [
        ("Firing alerts", "none", "table", [('ALERTS{alertname=~"Davit.*", alertstate="firing"}', "")]),
        ("Health of plugins (0 serving, 1 degraded, 2 starting, 3 not serving)", "none", "timeseries",
         [(f"davit_health{{{AT}}} > 0", "{{instance}} {{plugin}}")]),
        ("Silence of the regions' agents", "s", "timeseries",
         [(f"time() - region:davit_recorder_agent_seen_timestamp_seconds:max1d{{{REGION}}}", "{{region}}")]),
        ("Changes that agents have not applied", "short", "timeseries",
         [(f"davit_recorder_agent_lag_records{{{REGION}}}", "{{region}} {{agent}}")]),
        ("Issues that agents report", "short", "timeseries",
         [(f"region:davit_recorder_issues:max{{{REGION}}} > 0", "{{region}} {{condition}}")]),
        ("From commit to applied", "s", "timeseries",
         [(f"job:davit_recorder_applied_seconds:p50_5m{{{JOB}}}", "p50"),
          (f"job:davit_recorder_applied_seconds:p99_5m{{{JOB}}}", "p99")]),
    ]),
    ("Server", [
        ("Calls", "reqps", "timeseries",
         [(f"sum by (method, code) ({rate('davit_rpc_calls_total')})", "{{method}} {{code}}")]),
        ("Duration of calls, p99", "s", "timeseries",
         [(f"method:davit_rpc_seconds:p99_5m{{{JOB}}}", "{{method}}")]),
        ("Streams and connections", "short", "timeseries",
         [(f"davit_streamer_streams{{{AT}}}", "streams {{instance}}"),
          (f"sum by (instance, server) (davit_rpc_connections{{{AT}}})", "connections {{instance}} {{server}}")]),
        ("Records sent to agents", "rowsps", "timeseries",
         [(f"sum by (instance) ({rate('davit_streamer_records_sent_total')})", "{{instance}}")]),
        ("Commit, and commit to first stream, p99", "s", "timeseries",
         [(quantile(0.99, "davit_host_commit_seconds", ", instance"), "commit {{instance}}"),
          (quantile(0.99, "davit_streamer_propagation_seconds", ", instance"), "to a stream {{instance}}")]),
        ("What the store holds", "short", "timeseries",
         [(f"davit_storage_records{{{AT}}}", "records {{storage}}"),
          (f"davit_storage_statuses{{{AT}}}", "statuses {{storage}}"),
          (f"davit_storage_tombstones{{{AT}}}", "tombstones {{storage}}")]),
        ("Size of the store", "bytes", "timeseries",
         [(f"davit_storage_database_bytes{{{AT}}}", "database {{storage}}"),
          (f"davit_storage_journal_bytes{{{AT}}}", "journal {{storage}}"),
          (f"davit_storage_free_bytes{{{AT}}}", "free {{storage}}")]),
        ("Errors of the store", "ops", "timeseries",
         [(rate("davit_streamer_storage_errors_total"), "streamer {{instance}}"),
          (rate("davit_recorder_storage_errors_total"), "recorder {{instance}}"),
          (rate("davit_desired_purge_errors_total"), "purge {{instance}}")]),
        ("Refused", "ops", "timeseries",
         [(rate("davit_rpc_connections_refused_total"), "connections {{instance}} {{server}}"),
          (rate("davit_rpc_requests_refused_total"), "requests {{instance}} {{server}}"),
          (rate("davit_recorder_refused_total"), "statuses {{instance}}")]),
    ]),
    ("Agents", [
        ("Streams that are connected", "short", "timeseries",
         [(f"davit_watcher_connected{{{AT}}}", "{{instance}} {{kind}}")]),
        ("Work on objects", "ops", "timeseries",
         [(f"sum by (instance) ({rate(f'davit_applier_{what}_total')})", what + " {{instance}}")
          for what in ("applies", "deletes", "repairs", "retries")]),
        ("Waiting and parked", "short", "timeseries",
         [(f"davit_applier_waiting{{{AT}}}", "waiting {{instance}}"),
          (f"davit_applier_parked{{{AT}}}", "parked {{instance}}")]),
        ("Requests to the Kubernetes API", "s", "timeseries",
         [(f"instance:davit_cluster_request_seconds:p99_5m{{{AT}}}", "p99 {{instance}}")]),
        ("Watches that are down", "short", "timeseries",
         [(f"davit_applier_watch_up{{{AT}}} == 0", "{{instance}} {{kind}} {{resource}}")]),
        ("Statuses", "ops", "timeseries",
         [(f"sum by (instance) ({rate(f'davit_reporter_{what}_total')})", what + " {{instance}}")
          for what in ("sent", "refused", "dropped", "failures")]),
        ("Secrets, by the answer of their store", "ops", "timeseries",
         [(f"sum by (secrets, code) ({rate('davit_secrets_items_total')})", "{{secrets}} {{code}}")]),
    ]),
    ("Federation and clusters", [
        ("Objects that are not in step", "short", "timeseries",
         [(f"sum by (instance, resource, standing) (davit_federation_open_objects{{{AT}}})",
           "{{instance}} {{resource}} {{standing}}")]),
        ("Held deletes and stuck objects", "short", "timeseries",
         [(f"davit_federation_held_deletes{{{AT}}}", "held {{instance}} {{resource}}"),
          (f"davit_federation_stuck_objects{{{AT}}}", "stuck {{instance}} {{resource}}")]),
        ("Clusters, by how they stand", "short", "timeseries",
         [(f"sum by (phase) (davit_clusters{{{AT}}})", "{{phase}}")]),
        ("Answers of actuators, p99", "s", "timeseries",
         [(quantile(0.99, "davit_clusters_call_seconds", ", actuator, operation"), "{{actuator}} {{operation}}")]),
    ]),
    ("Processes", [
        ("Processor", "percentunit", "timeseries", [(rate("process_cpu_seconds_total"), "{{instance}}")]),
        ("Resident memory", "bytes", "timeseries", [(f"process_resident_memory_bytes{{{AT}}}", "{{instance}}")]),
        ("File descriptors", "percentunit", "timeseries",
         [(f"process_open_fds{{{AT}}} / process_max_fds{{{AT}}}", "{{instance}}")]),
        ("Certificates expire in", "s", "timeseries",
         [(f"davit_rpc_certificate_not_after_timestamp_seconds{{{AT}}} - time()", "{{instance}} {{server}}{{client}}")]),
    ]),
]

WIDTH, HEIGHT, COLUMNS = 8, 8, 3  # Grafana's grid has 24 columns
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def panel(title, unit, kind, queries):
    targets = [{"refId": chr(ord("A") + i), "expr": expr, "legendFormat": legend,
                **({"format": "table", "instant": True} if kind == "table" else {})}
               for i, (expr, legend) in enumerate(queries)]
    return {"title": title, "type": kind, "datasource": SOURCE, "targets": targets,
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
            "options": {} if kind == "table" else {"legend": {"displayMode": "list", "placement": "bottom"},
                                                   "tooltip": {"mode": "multi", "sort": "desc"}}}


def placed():
    panels, y = [], 0
    for row, members in ROWS:
        panels.append({"type": "row", "title": row, "collapsed": False, "panels": [],
                       "gridPos": {"h": 1, "w": WIDTH * COLUMNS, "x": 0, "y": y}})
        y += 1
        for i, member in enumerate(members):
            at = {"h": HEIGHT, "w": WIDTH, "x": WIDTH * (i % COLUMNS), "y": y + HEIGHT * (i // COLUMNS)}
            panels.append({**panel(*member), "gridPos": at})
        y += HEIGHT * -(-len(members) // COLUMNS)
    return [{**one, "id": number} for number, one in enumerate(panels, 1)]


def variable(name, label, query):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE, "query": query, "refresh": 2,
            "multi": True, "includeAll": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"}, "sort": 1}


DASHBOARD = {
    "title": "Davit", "uid": "davit", "tags": ["davit"], "schemaVersion": 37, "version": 1, "editable": True,
    "timezone": "browser", "refresh": "30s", "time": {"from": "now-6h", "to": "now"},
    "templating": {"list": [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
        variable("job", "Job", "label_values(davit_info, job)"),
        variable("instance", "Process", 'label_values(davit_info{job=~"$job"}, instance)'),
        variable("region", "Region", 'label_values(davit_recorder_issues{job=~"$job"}, region)'),
    ]},
    "panels": placed(),
}

print(json.dumps(DASHBOARD, separators=(",", ":"), ensure_ascii=False))
