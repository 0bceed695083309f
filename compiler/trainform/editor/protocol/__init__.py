"""The Language Server Protocol: the only modules that import pygls and lsprotocol.

`serving.py` runs one client. `server.py` takes buffers and tells findings, `wiring.py` answers requests, `previews.py`
shows rendered manifests: they turn messages into calls of plain functions, and plain answers into the protocol's types.
`rules.py` has what the protocol asks of every server, and pygls leaves out.
"""
