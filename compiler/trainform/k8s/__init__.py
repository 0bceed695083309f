"""Kubernetes' own rules, restated for plain trees of dict, list and scalars.

Nothing here knows about TrainJobs or runtimes, or reads files: functions take trees and return trees or problems.
"""
