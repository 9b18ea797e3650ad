/** The tables of a team archive. Statements stay within what PostgreSQL 14 and its relatives understand. */

import { PERSON_ROLE } from './person-role.ts'
import { SEARCH, TITLES } from './search-functions.ts'

/**
 * People, devices and settings are read by the server alone. `session`, `message`, `usage`, `tool_use` and `activity`
 * are large, and all of them carry `session_key`: a hash of what identifies a session on every machine, by which an
 * engine can distribute them. Every unique key of a large table contains it.
 *
 * `audience` is who may read a row: the person alone, the team, or named people. It is repeated in each row of a large
 * table, so that no join decides about rights.
 */
const TABLES = `
CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL);

CREATE TABLE person (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  email text UNIQUE,
  subject text UNIQUE,
  is_admin boolean NOT NULL DEFAULT false,
  joined_at timestamptz NOT NULL DEFAULT now(),
  left_at timestamptz
);
CREATE UNIQUE INDEX person_name ON person (lower(name)) WHERE left_at IS NULL;

CREATE TABLE device (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  person_id int NOT NULL REFERENCES person,
  name text NOT NULL,
  public_key text NOT NULL UNIQUE,
  joined_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz,
  revoked_at timestamptz
);

CREATE TABLE invitation (
  code_hash text PRIMARY KEY,
  person_id int REFERENCES person,
  person_name text,
  email text,
  is_admin boolean NOT NULL DEFAULT false,
  purpose text NOT NULL CHECK (purpose IN ('join', 'sign_in')),
  invited_by int REFERENCES person,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);

CREATE TABLE sign_in (
  cookie_hash text PRIMARY KEY,
  person_id int NOT NULL REFERENCES person,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);

CREATE TABLE used_nonce (
  device_id int NOT NULL,
  nonce text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (device_id, nonce)
);
CREATE INDEX used_nonce_expiry ON used_nonce (expires_at);

CREATE TABLE audience (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('own', 'named', 'team')),
  person_id int,
  named int[] NOT NULL DEFAULT '{}',
  UNIQUE (kind, person_id, named)
);
CREATE UNIQUE INDEX audience_team ON audience (kind) WHERE kind = 'team';
CREATE TABLE audience_member (
  person_id int NOT NULL,
  audience_id int NOT NULL,
  PRIMARY KEY (person_id, audience_id)
);
INSERT INTO audience (kind) VALUES ('team');

CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  person_id int,
  device_id int,
  action text NOT NULL,
  session_key bigint,
  owner_id int,
  detail text
);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_owner ON audit (owner_id, at);

CREATE TABLE project (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);

CREATE SEQUENCE revision;

CREATE TABLE session (
  session_key bigint PRIMARY KEY,
  person_id int NOT NULL,
  device_id int,
  shared text NOT NULL CHECK (shared IN ('nobody', 'named', 'team', 'usage')),
  audience int NOT NULL,
  project_id int NOT NULL,
  agent text NOT NULL,
  native_id text NOT NULL,
  kind text NOT NULL DEFAULT 'conversation',
  title text,
  first_prompt text,
  title_terms int[] NOT NULL DEFAULT '{}',
  branch text,
  cwd text,
  models text[] NOT NULL DEFAULT '{}',
  header text,
  parent_key bigint,
  relation text,
  started_at timestamptz,
  last_at timestamptz,
  records int NOT NULL DEFAULT 0,
  messages int NOT NULL DEFAULT 0,
  turns int NOT NULL DEFAULT 0,
  tools int NOT NULL DEFAULT 0,
  errors int NOT NULL DEFAULT 0,
  issues int NOT NULL DEFAULT 0,
  size_bytes bigint NOT NULL DEFAULT 0,
  estimate text,
  credits double precision,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_input_tokens bigint NOT NULL DEFAULT 0,
  cache_write_tokens bigint NOT NULL DEFAULT 0,
  cache_write_1h_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_output_tokens bigint NOT NULL DEFAULT 0,
  total_tokens bigint NOT NULL DEFAULT 0,
  generation int NOT NULL DEFAULT 1,
  stored int NOT NULL DEFAULT 0,
  id_chain text NOT NULL DEFAULT '',
  text_chain text NOT NULL DEFAULT '',
  is_complete boolean NOT NULL DEFAULT false,
  revision bigint NOT NULL DEFAULT nextval('revision'),
  pushed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX session_last ON session (last_at DESC, session_key DESC);
CREATE INDEX session_person ON session (person_id, last_at DESC);
CREATE INDEX session_project ON session (project_id, last_at DESC);
CREATE INDEX session_parent ON session (parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX session_revision ON session (revision);
CREATE INDEX session_title ON session USING gin (title_terms);

CREATE TABLE withdrawn (
  session_key bigint PRIMARY KEY,
  person_id int NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE checkpoint (
  session_key bigint NOT NULL,
  person_id int NOT NULL,
  stored int NOT NULL,
  id_chain text NOT NULL,
  text_chain text NOT NULL,
  PRIMARY KEY (session_key, stored)
);

CREATE TABLE message (
  session_key bigint NOT NULL,
  seq int NOT NULL,
  at timestamptz NOT NULL,
  person_id int NOT NULL,
  audience int NOT NULL,
  project_id int NOT NULL,
  agent text NOT NULL,
  role text NOT NULL,
  tool text,
  body text NOT NULL,
  terms int[] NOT NULL,
  PRIMARY KEY (session_key, at, seq)
) PARTITION BY RANGE (at);
CREATE INDEX message_at ON message (at DESC, session_key DESC, seq DESC);
CREATE INDEX message_terms ON message USING gin (terms);

CREATE TABLE word (text text PRIMARY KEY, hash int NOT NULL);
CREATE INDEX word_prefix ON word (text text_pattern_ops);
CREATE INDEX word_hash ON word (hash);

CREATE TABLE usage (
  session_key bigint NOT NULL,
  quarter int NOT NULL,
  model text NOT NULL,
  person_id int NOT NULL,
  audience int NOT NULL,
  input_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  cache_write_1h_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  PRIMARY KEY (session_key, quarter, model)
);
CREATE INDEX usage_quarter ON usage (quarter);

CREATE TABLE tool_use (
  session_key bigint NOT NULL,
  tool text NOT NULL,
  person_id int NOT NULL,
  audience int NOT NULL,
  calls int NOT NULL,
  results int NOT NULL,
  errors int NOT NULL,
  duration_ms bigint NOT NULL,
  timed int NOT NULL,
  PRIMARY KEY (session_key, tool)
);

CREATE TABLE activity (
  session_key bigint NOT NULL,
  quarter int NOT NULL,
  person_id int NOT NULL,
  audience int NOT NULL,
  count int NOT NULL,
  PRIMARY KEY (session_key, quarter)
);
`

const WITH_AUDIENCE = ['session', 'message', 'usage', 'tool_use', 'activity'] as const

/**
 * The functions run as the owner. \`my_audiences\` is called as a subquery, so that it runs once for a statement. The
 * owner's own policy is constant and disappears from its plans: it does not keep the owner's statements from using
 * an index.
 */
const RIGHTS = `
CREATE FUNCTION me() RETURNS int LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('app.person', true), '')::int $$;
CREATE FUNCTION my_audiences() RETURNS int[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS
  $$ SELECT coalesce(array_agg(m.audience_id), '{}') FROM audience_member m
     JOIN person p ON p.id = m.person_id WHERE p.id = me() AND p.left_at IS NULL $$;
${WITH_AUDIENCE.map(
  (table) => `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_all ON ${table} TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY person_reads ON ${table} FOR SELECT TO ${PERSON_ROLE} USING (audience = ANY ((SELECT my_audiences())::int[]));
CREATE POLICY person_adds ON ${table} FOR INSERT TO ${PERSON_ROLE}
  WITH CHECK (person_id = (SELECT me()) AND audience = ANY ((SELECT my_audiences())::int[]));
CREATE POLICY person_changes ON ${table} FOR UPDATE TO ${PERSON_ROLE} USING (person_id = (SELECT me()))
  WITH CHECK (person_id = (SELECT me()) AND audience = ANY ((SELECT my_audiences())::int[]));
CREATE POLICY person_removes ON ${table} FOR DELETE TO ${PERSON_ROLE} USING (person_id = (SELECT me()));
GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${PERSON_ROLE};`,
).join('')}
${['checkpoint', 'withdrawn']
  .map(
    (table) => `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_all ON ${table} TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY person_own ON ${table} TO ${PERSON_ROLE} USING (person_id = (SELECT me())) WITH CHECK (person_id = (SELECT me()));
GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${PERSON_ROLE};`,
  )
  .join('')}
GRANT SELECT ON project TO ${PERSON_ROLE};
GRANT USAGE ON SEQUENCE revision TO ${PERSON_ROLE};
REVOKE ALL ON FUNCTION me(), my_audiences() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION me(), my_audiences() TO ${PERSON_ROLE};
`

/** A month of messages. Called by the owner before messages of the month are added. */
const MONTHS = `
CREATE FUNCTION add_month(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE first date := date_trunc('month', day)::date; name text := 'message_' || to_char(first, 'YYYYMM');
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(current_schema() || name));
  IF to_regclass(format('%I.%I', current_schema(), name)) IS NULL THEN
    EXECUTE format('CREATE TABLE %I PARTITION OF message FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 90)',
      name, first::timestamp AT TIME ZONE 'UTC', (first + interval '1 month')::timestamp AT TIME ZONE 'UTC');
    EXECUTE format('ALTER TABLE %I ALTER terms SET STORAGE MAIN', name);
  END IF;
END $$;
REVOKE ALL ON FUNCTION add_month FROM PUBLIC;
`

/** A row belongs to a session of the same person, and a project is known to those who see a session of it. */
const STRICTER_RIGHTS = `
${WITH_AUDIENCE.filter((table) => table !== 'session')
  .map(
    (table) => `
ALTER POLICY person_adds ON ${table} WITH CHECK (person_id = (SELECT me()) AND audience = ANY ((SELECT my_audiences())::int[])
  AND EXISTS (SELECT 1 FROM session s WHERE s.session_key = ${table}.session_key AND s.person_id = (SELECT me())));
ALTER POLICY person_changes ON ${table} WITH CHECK (person_id = (SELECT me()) AND audience = ANY ((SELECT my_audiences())::int[])
  AND EXISTS (SELECT 1 FROM session s WHERE s.session_key = ${table}.session_key AND s.person_id = (SELECT me())));`,
  )
  .join('')}
ALTER TABLE project ENABLE ROW LEVEL SECURITY;
ALTER TABLE project FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_all ON project TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY person_reads ON project FOR SELECT TO ${PERSON_ROLE}
  USING (EXISTS (SELECT 1 FROM session s WHERE s.project_id = project.id));
`

export const MIGRATIONS: readonly string[] = [
  TABLES + RIGHTS + MONTHS + SEARCH + TITLES,
  // Alternatives of several terms, and bodies of the newest alone.
  SEARCH,
  STRICTER_RIGHTS,
  // What was looked at by time is not looked at again.
  SEARCH,
  // Each person's own: nobody takes the place of another's.
  'ALTER TABLE withdrawn DROP CONSTRAINT withdrawn_pkey; ALTER TABLE withdrawn ADD PRIMARY KEY (session_key, person_id)',
]
