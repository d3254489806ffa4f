"""A table of the alerts: for each one, series with which it fires, and series with which it does not.

test_monitoring.py gives them to promtool; tests/e2e/test_monitoring.py looks for the same names and labels in what real
processes show.
"""

from typing import NamedTuple

# Prometheus' notation of a series in its tests: a value that stays for four hours, with one sample a minute.
STAYS = "x240"


class Row(NamedTuple):
    """`name{labels}` of a series, its values when the alert must fire, and when it must not."""
    alert: str
    series: str
    fires: str
    quiet: str
    beside: tuple = ()  # (series, values): the same in both cases


def issue(condition):
    return f'davit_recorder_issues{{region="eu-1",condition="{condition}"}}'


NOW = 4 * 3600  # the alerts are looked at four hours after the first sample

TABLE = [
    Row("DavitDown", "up{}", "0", "1"),
    Row("DavitNotServing", 'davit_health{plugin="main"}', "3", "1"),
    Row("DavitDegraded", 'davit_health{plugin="main"}', "1", "0"),
    Row("DavitFileDescriptorsLow", "process_open_fds{}", "900", "700", (("process_max_fds{}", "1000"),)),
    Row("DavitCertificateExpires", 'davit_rpc_certificate_not_after_timestamp_seconds{server="main"}',
        str(NOW + 13 * 86400), str(NOW + 15 * 86400)),
    Row("DavitCertificateExpiresSoon", 'davit_rpc_certificate_not_after_timestamp_seconds{client="control"}',
        str(NOW + 86400), str(NOW + 3 * 86400)),
    # The second agent is silent and its series ends, which no alert is needed for while the first one is there.
    Row("DavitRegionUnattended", 'davit_recorder_agent_seen_timestamp_seconds{region="eu-1",agent="a"}',
        "0+60x200 _x40", "0+60x240",
        (('davit_recorder_agent_seen_timestamp_seconds{region="eu-1",agent="b"}', "0+60x100 _x140"),)),
    Row("DavitAgentLagging", 'davit_recorder_agent_lag_records{region="eu-1",agent="a"}', "3", "3x230 0x10"),
    Row("DavitRecordsParked", issue("parked"), "2", "0"),
    Row("DavitAgentBlind", issue("blind"), "1", "0"),
    Row("DavitAgentLacks", issue("missing"), "1", "0"),
    Row("DavitObjectsOrphaned", issue("orphaned"), "1", "0"),
    Row("DavitObjectsContested", issue("contested"), "1", "0"),
    Row("DavitRecordsDelayed", issue("delayed"), "1", "0"),
    Row("DavitStoreErrors", "davit_streamer_storage_errors_total{}", "0+60x240", "60"),
    Row("DavitDiskFull", 'davit_storage_free_bytes{storage="main"}', "5e8", "5e9",
        (('davit_storage_database_bytes{storage="main"}', "1e9"),)),
    Row("DavitJournalGrows", 'davit_storage_checkpoint_timestamp_seconds{storage="main"}', "60", "0+60x240",
        (('davit_storage_journal_bytes{storage="main"}', "2e9"),)),
    Row("DavitJournalGrows", 'davit_storage_journal_bytes{storage="main"}', "2e9", "1e8"),
    Row("DavitCallsFail", 'davit_rpc_calls_total{server="main",method="/m",code="unavailable"}', "0+10x240", "0+1x240",
        (('davit_rpc_calls_total{server="main",method="/m",code="ok"}', "0+60x240"),)),
    Row("DavitCallersRefused", 'davit_rpc_connections_refused_total{server="main"}', "0+60x240", "60",
        (('davit_rpc_requests_refused_total{server="main"}', "0"),)),
    # Every change takes between a second and a minute, or less than a second.
    Row("DavitChangesSlow", 'davit_streamer_propagation_seconds_bucket{le="1"}', "0", "0+60x240",
        (('davit_streamer_propagation_seconds_bucket{le="60"}', "0+60x240"),
         ('davit_streamer_propagation_seconds_bucket{le="+Inf"}', "0+60x240"),)),
    Row("DavitAgentDisconnected", 'davit_watcher_connected{kind="deployment"}', "0", "1"),
    Row("DavitAgentWatchDown", 'davit_applier_watch_up{kind="deployment",resource="pods"}', "0", "1"),
    Row("DavitAgentRightsMissing", "davit_applier_rights_missing{}", "1", "0"),
    Row("DavitStatusesDropped", "davit_reporter_dropped_total{}", "0+1x240", "17"),
    Row("DavitReporterBreakerOpen", "davit_reporter_breaker{}", "2", "1"),
    Row("DavitSecretsUnavailable", 'davit_secrets_breaker{secrets="vault"}', "2", "0"),
    Row("DavitClusterTokenExpired", "davit_cluster_token_expiry_timestamp_seconds{}", str(NOW - 600), str(NOW + 600)),
    Row("DavitFederationDeletesHeld", 'davit_federation_held_deletes{resource="robots"}', "600", "0"),
    Row("DavitFederationNameContested", "davit_federation_name_contested{}", "1", "0"),
    Row("DavitFederationWatchDown", 'davit_federation_watch_up{resource="robots",namespace="",side="upstream"}', "0", "1"),
    Row("DavitFederationObjectsStuck", 'davit_federation_stuck_objects{resource="robots"}', "3", "0"),
    Row("DavitFederationDefinitionsFaulty", "davit_federation_faulty_definitions{}", "1", "0"),
    Row("DavitClustersFailing", 'davit_clusters{phase="failed"}', "1", "0"),
]


def with_target(series, job):
    """The series as Prometheus stores it: with the labels of its target."""
    name, labels = series.rstrip("}").split("{")
    return f'{name}{{job="{job}",instance="control:9100"{"," if labels else ""}{labels}}}'


def values(text):
    """A single number stays."""
    return text if "x" in text else f"{text}{STAYS}"
