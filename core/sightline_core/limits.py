"""Every number that bounds time, size or count.

**Invariant**: no such literal lives elsewhere; functions receive a `Limits`, they do not import a constant.
The unit is the last part of a name. Users override single fields in the `[limits]` table.
"""

from __future__ import annotations

from sightline_core.lean_dataclass import lean_dataclass


@lean_dataclass
class Limits:
    """The bounds one Sightline process works within."""

    # -- calls ---------------------------------------------------------------------------------
    call_deadline_s: float = 45.0
    shutdown_grace_s: float = 5.0
    progress_interval_s: float = 0.1
    cancel_wait_s: float = 5.0
    max_structured_bytes: int = 48 * 1024
    max_inflight_calls: int = 256
    max_inflight_calls_per_session: int = 32
    max_path_chars: int = 4096
    max_query_chars: int = 20_000

    # -- sessions ------------------------------------------------------------------------------
    max_unsent_messages: int = 128
    roots_timeout_s: float = 5.0
    roots_ask_again_s: float = 1.0
    max_client_roots: int = 64
    max_subscriptions: int = 1_000
    max_completions: int = 100
    diagnostics_update_s: float = 2.0
    index_update_s: float = 1.0
    max_audit_value_chars: int = 200
    max_waiting_audit_lines: int = 10_000
    max_audit_bytes: int = 16 * 1024 * 1024
    audit_files: int = 3

    # -- transports ----------------------------------------------------------------------------
    max_message_bytes: int = 4 * 1024 * 1024
    stdin_drain_s: float = 1.0
    http_read_timeout_s: float = 10.0
    http_keep_alive_s: int = 30
    http_max_connections: int = 512
    http_max_sessions: int = 512
    http_session_idle_s: float = 1800.0

    # -- daemon --------------------------------------------------------------------------------
    daemon_idle_s: float = 1800.0
    daemon_start_s: float = 30.0
    daemon_start_attempts: int = 3
    daemon_retry_s: float = 2.0
    daemon_connect_s: float = 5.0
    daemon_hello_s: float = 10.0
    daemon_lock_poll_ms: int = 20
    daemon_stop_s: float = 15.0
    daemon_check_s: float = 5.0
    daemon_max_sessions: int = 256
    daemon_backlog_connections: int = 128
    daemon_log_bytes: int = 4 * 1024 * 1024
    daemon_log_lines: int = 50
    max_hello_bytes: int = 256 * 1024
    max_inherited_files: int = 1024
    front_buffer_bytes: int = 256 * 1024
    status_watch_s: float = 0.5

    # -- workspaces ----------------------------------------------------------------------------
    max_auto_workspaces: int = 10
    workspace_warmset_capacity: int = 3

    # -- reading files -------------------------------------------------------------------------
    max_file_bytes: int = 1024 * 1024

    # -- discovery -----------------------------------------------------------------------------
    max_ignore_file_bytes: int = 1024 * 1024
    max_ignore_pattern_bytes: int = 1024
    max_ignore_rules: int = 20_000
    max_ignore_globs: int = 2_000
    max_directory_depth: int = 512
    max_git_index_bytes: int = 512 * 1024 * 1024
    max_git_file_bytes: int = 4096
    max_unreadable_paths: int = 100
    max_cached_directories: int = 100_000
    walk_progress_files: int = 1_000

    # -- watching ------------------------------------------------------------------------------
    watch_quiet_ms: int = 60
    watch_max_delay_ms: int = 250
    watch_burst_paths: int = 4_000
    watch_burst_settle_ms: int = 2_000
    watch_queue_events: int = 200_000
    watch_reconcile_interval_s: float = 600.0
    watch_degraded_reconcile_interval_s: float = 15.0
    watch_stop_timeout_s: float = 5.0

    # -- indexing ------------------------------------------------------------------------------
    max_parse_ms: int = 5_000
    max_symbols_per_file: int = 20_000
    max_signature_chars: int = 240
    max_doc_chars: int = 200
    max_doc_scan_bytes: int = 4096
    parse_unwatched_bytes: int = 64 * 1024
    parse_chunk_bytes: int = 8 * 1024
    min_unparsed_body_bytes: int = 100
    min_plain_macros: int = 1
    max_occurrences_per_file: int = 10_000
    occurrence_climb_levels: int = 8
    max_recent_jobs: int = 20
    max_word_bytes: int = 255
    max_name_parts: int = 8
    max_gathered_name_bytes: int = 16 * 1024 * 1024
    max_remembered_words: int = 600_000
    worker_cached_words: int = 60_000
    index_writer_heap_bytes: int = 64_000_000
    index_update_heap_bytes: int = 20_000_000
    index_first_commit_s: float = 2.0
    index_commit_factor: float = 3.0
    writer_linger_s: float = 20.0
    # The text engine remembers the name of every file it ever opened, 4 kB a save, until it is opened anew.
    max_kept_commits: int = 25
    max_text_reloads: int = 25
    worker_batch_files: int = 64
    worker_batch_bytes: int = 512 * 1024
    worker_batch_path_bytes: int = 16 * 1024
    max_worker_batches: int = 2
    worker_memory_bytes: int = 3 * 1024 * 1024 * 1024
    worker_max_failed_starts: int = 3
    worker_poll_ms: int = 100
    worker_answer_bytes: int = 256 * 1024
    worker_message_bytes: int = 256 * 1024 * 1024
    worker_stall_s: float = 30.0
    worker_idle_s: float = 300.0
    racy_stat_ms: int = 2_000
    racy_fine_stat_ms: int = 50
    write_lock_poll_ms: int = 50
    write_lock_wait_s: float = 3_600.0
    stale_check_age_s: float = 30.0
    max_stale_checks: int = 200

    # -- searching -----------------------------------------------------------------------------
    default_results: int = 10
    search_threads: int = 8
    # How many searches must be under way before processes help, and how many files make an index worth their help.
    min_helped_searches: int = 4
    min_helped_files: int = 2_000
    max_helper_indexes: int = 4
    helper_idle_s: float = 60.0
    helper_max_failures: int = 3
    strict_wait_s: float = 20.0
    command_sync_wait_s: float = 3.0
    first_snapshot_wait_s: float = 2.0
    max_suggestions: int = 3
    max_query_words: int = 64
    max_glob_chars: int = 512
    max_query_terms: int = 256
    max_ranked_terms: int = 64
    max_weighed_words: int = 20_000
    max_ranked_files: int = 120
    max_file_references: int = 32
    max_near_names: int = 5
    max_related_names: int = 40
    max_part_files: int = 40
    max_prefix_files: int = 400
    max_name_pieces: int = 8
    max_place_matches: int = 12
    place_window_bytes: int = 240
    max_path_results: int = 1_000
    max_hierarchy_symbols: int = 500
    max_import_lines: int = 200
    max_phrase_files: int = 2_000
    max_word_expansions: int = 4_096
    vocabulary_chunk_bytes: int = 4 * 1024 * 1024
    max_named_symbols: int = 10_000
    max_cached_frequencies: int = 100_000
    max_near_name_files: int = 200
    short_name_chars: int = 4
    max_idle_readers: int = 8
    # A reader keeps pages of the manifest; after a busy moment most of them are not needed again.
    idle_reader_s: float = 5.0

    # -- literal and regex search --------------------------------------------------------------
    max_pattern_chars: int = 4_096
    max_regex_depth: int = 100
    max_regex_texts: int = 24
    max_regex_text_chars: int = 120
    max_regex_groups: int = 12
    max_regex_instructions: int = 20_000
    max_regex_memory_bytes: int = 64 * 1024 * 1024
    min_regex_text_chars: int = 2
    few_candidate_files: int = 100
    min_lookup_chars: int = 5
    max_lookup_texts: int = 24
    scan_budget_s: float = 1.5
    scan_threads: int = 4
    scan_first_files: int = 16
    scan_batch_files: int = 128
    scan_window_bytes: int = 256 * 1024
    scan_join_bytes: int = 1024 * 1024
    max_line_chars: int = 240
    max_counted_files: int = 1_000
    max_name_chars: int = 80
    name_tokens: int = 20
    signature_tokens: int = 120
    context_tokens: int = 500
    max_occurrence_requests: int = 8
    references_budget_s: float = 8.0
    max_reference_files: int = 2_000
    max_references: int = 5_000
    snippet_context_lines: int = 2
    max_snippet_lines: int = 16

    # -- code context --------------------------------------------------------------------------
    min_context_tokens: int = 100
    max_context_tokens: int = 20_000
    max_context_line_chars: int = 500
    context_search_results: int = 40
    context_item_tokens: int = 600
    context_breadth_ratio: float = 0.2
    context_depth_ratio: float = 0.75
    context_depth_files: int = 3
    context_window_lines: int = 8
    context_followed_symbols: int = 3
    context_uses: int = 20

    # -- navigation ----------------------------------------------------------------------------
    navigation_locations: int = 50
    navigation_max_locations: int = 500
    max_location_text_chars: int = 200
    max_target_pattern_chars: int = 1_000
    max_shown_candidates: int = 10
    fallback_max_files: int = 400
    fallback_timeout_s: float = 6.0
    fallback_processes: int = 2
    max_call_depth: int = 3
    max_hierarchy_nodes: int = 200
    max_source_chars: int = 24_000
    source_sync_wait_s: float = 2.0
    explore_tokens: int = 4_000
    explore_min_tokens: int = 500
    explore_max_tokens: int = 12_000
    explore_callers: int = 20
    explore_files: int = 20
    map_tokens: int = 2_000
    map_min_tokens: int = 200
    map_max_tokens: int = 10_000
    map_file_symbols: int = 12
    diagnostics_timeout_s: float = 20.0
    diagnostics_max_paths: int = 50
    max_parallel_diagnostics: int = 4

    # -- language servers ----------------------------------------------------------------------
    lsp_enrich_budget_ms: int = 400
    lsp_navigation_timeout_s: float = 10.0
    lsp_initialize_timeout_s: float = 300.0
    lsp_idle_stop_s: float = 1800.0
    lsp_max_starts: int = 5
    lsp_start_window_s: float = 180.0
    lsp_max_message_bytes: int = 64 * 1024 * 1024
    lsp_stderr_tail_bytes: int = 4096
    lsp_retries: int = 3
    lsp_watch_debounce_ms: int = 150
    lsp_diagnostics_quiet_ms: int = 500
    lsp_max_diagnostics_per_file: int = 1000
    lsp_max_header_bytes: int = 16 * 1024
    lsp_read_chunk_bytes: int = 256 * 1024
    lsp_stall_ms: int = 300
    lsp_max_bad_messages: int = 100
    lsp_max_queued_messages: int = 512
    lsp_max_pending_requests: int = 64
    lsp_write_timeout_s: float = 5.0
    lsp_retry_delay_ms: int = 20
    lsp_shutdown_timeout_s: float = 2.0
    lsp_kill_timeout_s: float = 2.0
    lsp_farewell_ms: int = 300
    lsp_spawn_timeout_s: float = 10.0
    lsp_backoff_first_s: float = 0.5
    lsp_backoff_max_s: float = 20.0
    lsp_settle_ms: int = 300
    lsp_progress_silence_s: float = 60.0
    lsp_max_progress_tokens: int = 256
    lsp_max_registrations: int = 1_000
    lsp_max_watch_globs: int = 1_000
    lsp_max_watch_events: int = 5_000
    lsp_max_open_documents: int = 50
    lsp_max_document_bytes: int = 4 * 1024 * 1024
    lsp_max_cached_texts: int = 256
    lsp_max_cached_text_chars: int = 32 * 1024 * 1024
    lsp_max_diagnostic_files: int = 500
    lsp_max_diagnostic_bytes: int = 64 * 1024 * 1024
    lsp_deadline_grace_ms: int = 100
    lsp_diagnostics_activity_s: float = 5.0
    lsp_diagnostics_nudges: int = 3
    lsp_max_symbols: int = 500
    lsp_max_locations: int = 2_000
    lsp_max_items: int = 1_000
    lsp_max_tokens: int = 50_000
    lsp_max_outline_depth: int = 32
    lsp_max_text_chars: int = 20_000
    lsp_late_answer_s: float = 10.0
    lsp_max_cached_queries: int = 128
    lsp_inline_reads: int = 8
    lsp_program_cache_s: float = 10.0
    lsp_first_file_entries: int = 5_000


DEFAULT_LIMITS = Limits()
