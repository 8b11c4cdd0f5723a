"""Integrations: Lockstitch beside other packages, one file each, each behind an extra.

    openai, anthropic, langchain, litellm    summarizers, for `summarize` and `asummarize`
    otel                                     spans and metrics of operations, for OpenTelemetry

Import the one you need; this package imports none of them.
"""
