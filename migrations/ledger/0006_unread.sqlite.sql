-- Agents are no longer refused for their health, so nothing probes them. Nothing ever read results that came too late.
DROP TABLE probes;
DROP TABLE late_answers;
