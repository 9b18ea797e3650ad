/** How the database searches: functions that contain the condition of rights. */
import { PERSON_ROLE } from './person-role.ts'

/** Reading so many rows by time takes as long as reading a fifth of them by the index. */
const MAX_PROBED_ROWS = 10_000
const MIN_PROBED_ROWS = 500

/** No further month is searched after so long. */
const MAX_MS = 2000

/** Of so few sessions the messages are found by their key. */
const FEW_SESSIONS = 2000

/**
 * The newest matching messages that a person may read. Row-level security would keep PostgreSQL from using the index of
 * the terms, because their operators are not leakproof; so this function runs as the owner and contains the
 * condition itself. It first looks at the newest messages, which answers frequent words; if they have some of the hits,
 * at more of them; and then at one month after the other, newest first, with the index. Nothing is compiled: that takes
 * longer than the search.
 *
 * \`p_any\` is a list of clauses, as JSON: each is a list of alternatives, and a message contains \`all\` of one of them,
 * and one of its \`any\`. \`p_before_*\` is the last row of the page before. Texts are read only of the rows that are returned.
 * A last row without a key says that time ran out before the oldest month.
 */
export const SEARCH = `
CREATE OR REPLACE FUNCTION search_messages(
  p_all int[], p_any jsonb, p_projects int[], p_people int[], p_agents text[], p_sessions bigint[], p_roles text[],
  p_tools text[], p_models text[], p_since timestamptz, p_until timestamptz,
  p_before_at timestamptz, p_before_key bigint, p_before_seq int, p_limit int, p_probe int
) RETURNS TABLE (session_key bigint, seq int, at timestamptz, body text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET jit = off AS $$
DECLARE
  sets int[] := my_audiences();
  filters text := ' m.audience = ANY ($1)';
  matches text := 'true';
  read_matches text;
  began timestamptz := clock_timestamp();
  page text := '';
  one text;
  n int;
  got int := 0;
  low timestamptz; high timestamptz; oldest timestamptz; newest timestamptz;
  rows int := p_probe;
  looked_at int := 0;
  place_at timestamptz := p_before_at; place_key bigint := p_before_key; place_seq int := p_before_seq;
  columns text := 'm.session_key, m.seq, m.at, m.body';
  before_place text := ' AND (m.at, m.session_key, m.seq) < ($10, $11, $12)';
  newest_first text := ' ORDER BY m.at DESC, m.session_key DESC, m.seq DESC';
BEGIN
  IF p_projects IS NOT NULL THEN filters := filters || ' AND m.project_id = ANY ($2)'; END IF;
  IF p_people IS NOT NULL THEN filters := filters || ' AND m.person_id = ANY ($3)'; END IF;
  IF p_agents IS NOT NULL THEN filters := filters || ' AND m.agent = ANY ($4)'; END IF;
  IF p_sessions IS NULL AND (p_projects IS NOT NULL OR p_people IS NOT NULL) THEN
    SELECT array_agg(s.session_key) INTO p_sessions FROM (
      SELECT s.session_key FROM session s WHERE (p_projects IS NULL OR s.project_id = ANY (p_projects))
        AND (p_people IS NULL OR s.person_id = ANY (p_people)) LIMIT ${FEW_SESSIONS + 1}) s;
    IF p_sessions IS NULL THEN RETURN; END IF;
    IF cardinality(p_sessions) > ${FEW_SESSIONS} THEN p_sessions := NULL; END IF;
  END IF;
  IF p_sessions IS NOT NULL THEN
    filters := filters || ' AND m.session_key = ANY ($5)';
    rows := 0;
  END IF;
  IF p_roles IS NOT NULL THEN filters := filters || ' AND m.role = ANY ($6)'; END IF;
  IF p_tools IS NOT NULL THEN filters := filters || ' AND m.tool = ANY ($7)'; END IF;
  IF p_models IS NOT NULL THEN
    filters := filters || ' AND EXISTS (SELECT 1 FROM session s WHERE s.session_key = m.session_key AND EXISTS
      (SELECT 1 FROM unnest(s.models) u, unnest($8) w WHERE u LIKE w))';
  END IF;
  IF cardinality(p_all) > 0 THEN matches := 'm.terms @> $9'; END IF;
  -- Alternatives of one term are one condition.
  FOR one IN
    SELECT (SELECT string_agg(condition, ' OR ') FROM (
      SELECT format('m.terms && %L::int[]', array_agg((a -> 'all' ->> 0)::int)) AS condition
        FROM jsonb_array_elements(clause) a WHERE jsonb_array_length(a -> 'all') = 1 AND NOT a ? 'any' HAVING count(*) > 0
      UNION ALL
      SELECT format('m.terms @> %L::int[]', translate(a ->> 'all', '[]', '{}'))
          || coalesce(format(' AND m.terms && %L::int[]', translate(a ->> 'any', '[]', '{}')), '')
        FROM jsonb_array_elements(clause) a WHERE jsonb_array_length(a -> 'all') > 1 OR a ? 'any') c)
    FROM jsonb_array_elements(p_any) clause
  LOOP
    matches := matches || format(' AND (%s)', coalesce(one, 'false'));
  END LOOP;
  -- Without an index, && compares each term with each: of a prefix with many words that takes long.
  read_matches := regexp_replace(matches, 'm\\.terms && (''\\{(?:-?\\d+,){20,}-?\\d+\\}''::int\\[\\])',
    'EXISTS (SELECT FROM unnest(m.terms) AS one WHERE one = ANY (\\1))', 'g');
  IF place_at IS NOT NULL THEN page := before_place; END IF;
  SELECT min(to_date(substr(c.relname, 9), 'YYYYMM'))::timestamp AT TIME ZONE 'UTC',
         (max(to_date(substr(c.relname, 9), 'YYYYMM')) + interval '1 month')::timestamp AT TIME ZONE 'UTC'
    INTO oldest, newest
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'message'::regclass;
  IF oldest IS NULL THEN RETURN; END IF;
  oldest := greatest(oldest, coalesce(p_since, '-infinity'));
  high := least(newest, coalesce(p_until, 'infinity'), place_at + interval '1 microsecond');

  -- The newest rows, as long as they promise to be enough. Rows that the person may not read count too: the number of
  -- rows read is bounded. Two months at most, because every partition that may be read makes planning longer.
  low := greatest(oldest, high - interval '2 months');
  WHILE rows > 0 AND got < p_limit LOOP
    RETURN QUERY EXECUTE format('SELECT %s FROM (SELECT m.* FROM message m WHERE m.at >= $13 AND m.at < $14 %s %s LIMIT %s) m
      WHERE %s AND %s %s LIMIT $15', columns, page, newest_first, rows, filters, read_matches, newest_first)
      USING sets, p_projects, p_people, p_agents, p_sessions, p_roles, p_tools, p_models, p_all,
        place_at, place_key, place_seq, low, high, p_limit - got;
    GET DIAGNOSTICS n = ROW_COUNT;
    got := got + n;
    EXIT WHEN got >= p_limit;
    EXECUTE format('SELECT m.at, m.session_key, m.seq FROM message m WHERE m.at >= $13 AND m.at < $14 %s %s OFFSET %s LIMIT 1',
      page, newest_first, rows - 1)
      INTO place_at, place_key, place_seq
      USING sets, p_projects, p_people, p_agents, p_sessions, p_roles, p_tools, p_models, p_all,
        place_at, place_key, place_seq, low, high;
    IF place_at IS NULL THEN
      page := '';
      high := low;
      EXIT;
    END IF;
    page := before_place;
    high := place_at + interval '1 microsecond';
    looked_at := looked_at + rows;
    EXIT WHEN got = 0;
    rows := greatest(${MIN_PROBED_ROWS}, (p_limit - got) * (looked_at / got + 1) * 3 / 2);
    EXIT WHEN looked_at + rows > greatest(p_probe, ${MAX_PROBED_ROWS});
  END LOOP;

  WHILE high > oldest AND got < p_limit LOOP
    low := date_trunc('month', (high - interval '1 microsecond') AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
    -- The bodies of frequent words would not fit into memory: they are read of the newest alone.
    RETURN QUERY EXECUTE format(CASE WHEN matches = 'true' THEN
      'SELECT %5$s FROM message m WHERE %2$s AND m.at >= $13 AND m.at < $14 %3$s %4$s LIMIT $15'
    ELSE 'WITH c AS MATERIALIZED (
        SELECT m.session_key, m.at, m.seq FROM message m WHERE %1$s AND %2$s AND m.at >= $13 AND m.at < $14 %3$s),
      k AS MATERIALIZED (SELECT * FROM c m %4$s LIMIT $15)
      SELECT %5$s FROM k JOIN LATERAL (SELECT b.* FROM message b WHERE b.session_key = k.session_key AND b.at = k.at
        AND b.seq = k.seq AND b.at >= $13 AND b.at < $14 OFFSET 0) m ON true %4$s' END, matches, filters, page, newest_first, columns)
      USING sets, p_projects, p_people, p_agents, p_sessions, p_roles, p_tools, p_models, p_all,
        place_at, place_key, place_seq, greatest(low, oldest), high, p_limit - got;
    GET DIAGNOSTICS n = ROW_COUNT;
    got := got + n;
    high := low;
    IF got < p_limit AND high > oldest AND clock_timestamp() > began + interval '${MAX_MS} milliseconds' THEN
      RETURN QUERY SELECT NULL::bigint, NULL::int, high, NULL::text;
      EXIT;
    END IF;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION search_messages FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_messages TO ${PERSON_ROLE};
`

/** The same for titles. */
export const TITLES = `
CREATE FUNCTION search_titles(p_all int[], p_limit int) RETURNS TABLE (session_key bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS
  $$ SELECT s.session_key FROM session s
     WHERE s.title_terms @> p_all AND s.audience = ANY ((SELECT my_audiences())::int[]) AND s.is_complete AND s.shared <> 'usage'
     ORDER BY s.last_at DESC NULLS LAST LIMIT p_limit $$;
REVOKE ALL ON FUNCTION search_titles FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_titles TO ${PERSON_ROLE};
`
