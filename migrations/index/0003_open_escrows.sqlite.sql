-- index.db: what is open now, so that what the escrows hold is added up without a look at every record there ever was.

CREATE INDEX executions_open ON executions (price) WHERE status = 'open';
