"""Strategies: what to keep and when to cut. The planner turns limits into a plan."""
