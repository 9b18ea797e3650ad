/** Generated messages in the tables of a team, for tests of search and for its benchmark. */
const START = Date.UTC(2025, 11, 1)
const YEAR_MS = 365 * 86_400_000
const BATCH = 1000

/** The same numbers for the same seed. */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const CJK = ['請求書の合計', '認証の失敗', '文字化けの原因', '設定を変更', '並列に実行']

/** Words of falling frequency: `common` in every fifth message, `word12` in some, `rare7` in few. */
function textOf(number) {
  const random = randomFrom(number + 1)
  const words = Array.from({ length: 60 }, () => `word${Math.floor(random() ** 3 * 20_000)}`)
  if (number % 5 === 0) words.unshift('common')
  if (number % 50 === 0) words.unshift('common', 'word12', 'word13')
  if (number % 7 === 0) words.push(CJK[number % CJK.length])
  if (number % 1009 === 7) words.push('rare7')
  return words.join(' ')
}

/**
 * @param database of a team, with its tables
 * @param isHere whether a session is in this database
 * @param termsOf the numbers of the words of a text
 */
export async function fillTeam(database, { messages, sessions, people }, isHere, termsOf) {
  await database.asServer(async (db) => {
    for (let month = 0; month < 13; month++)
      await db.run('SELECT add_month($1::date)', [
        `${2025 + Math.floor((11 + month) / 12)}-${String(((11 + month) % 12) + 1).padStart(2, '0')}-01`,
      ])
    for (let person = 1; person <= people; person++) {
      await db.run('INSERT INTO person (name) VALUES ($1)', [`p${person}`])
      await db.run('INSERT INTO audience_member SELECT $1, id FROM audience WHERE kind = $2', [person, 'team'])
    }
    await db.run(`INSERT INTO project (name) SELECT 'project' || n FROM generate_series(1, 40) n`)
  })
  const words = Array.from({ length: 20_000 }, (_, n) => [`word${n}`, String(n)]).flat()
  await database.asServer((db) =>
    db.run('INSERT INTO word (text, hash) SELECT * FROM unnest($1::text[], $2::int[]) ON CONFLICT DO NOTHING', [
      words,
      words.map((word) => termsOf(word)[0]),
    ]),
  )
  let rows = []
  const flush = async () => {
    const column = (name) => rows.map((row) => row[name])
    await database.asServer((db) =>
      db.run(
        `INSERT INTO message (session_key, seq, at, person_id, audience, project_id, agent, role, body, terms)
         SELECT k, s, a, p, 1, j, 'codex', 'assistant', b, t::int[]
         FROM unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[], $7::text[]) AS u (k, s, a, p, j, b, t)`,
        [
          column('key'),
          column('seq'),
          column('at'),
          column('person'),
          column('project'),
          column('body'),
          column('terms'),
        ],
      ),
    )
    rows = []
  }
  for (let number = 0; number < messages; number++) {
    const session = number % sessions
    if (!isHere(session)) continue
    const at = new Date(START + Math.floor((number / messages) * YEAR_MS)).toISOString()
    const seq = Math.floor(number / sessions)
    const text = textOf(number)
    const message = {
      id: `${at}#${seq + 1}`,
      timestamp: at,
      role: 'assistant',
      source_type: 'message',
      segments: [{ channel: 'output', type: 'text', format: 'output_text', text }],
      raw: { event_type: null, payload_type: null, file_path: '', line_index: seq + 1, session_id: `codex:${session}` },
    }
    const terms = `{${termsOf(text).join(',')}}`
    rows.push({
      key: String(session + 1),
      seq,
      at,
      person: (session % people) + 1,
      project: (session % 40) + 1,
      body: JSON.stringify(message),
      terms,
    })
    if (rows.length === BATCH) await flush()
  }
  if (rows.length > 0) await flush()
  await database.asServer((db) => db.run('ANALYZE message'))
}
