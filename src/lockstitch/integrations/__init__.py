"""Integrations: Lockstitch beside other packages, each by itself, each behind an extra.

    openai, anthropic, langchain, litellm    summarizers, for `summarize` and `asummarize`
    agent_framework                          histories, groups and compaction for Microsoft's
                                             agent-framework
    otel                                     spans and metrics of operations, for OpenTelemetry
    symfonic                                 symfonic's history functions, under their names

Import the one you need; this package imports none of them.
"""
