-- Agents are no longer refused for their health, so nothing probes them.
DROP TABLE probes;
