"""Kubernetes' own rules, restated for plain trees of dict, list and scalars.

How quantities are written and counted, what one pod requests, how a strategic merge patch changes
a tree, what a name may look like. Nothing in this room knows about TrainJobs or runtimes, reads a
file or reports to a user: functions take trees and return trees or plain-words reasons.
"""
