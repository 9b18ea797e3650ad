/**
 * A second set of invented sessions and questions, about other matters and in other words than memory-questions.mjs: it
 * shows whether what helps there helps elsewhere. The same seed gives the same bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesFrom } from './codex-lines.mjs'
import { AREAS, FACTS, FAILURES, MATTERS, TALK, WORDS } from './memory-second-topics.mjs'

const LANGUAGES = ['en', 'ja', 'zh']
const MATTERS_PER_AREA = 7
const ASKED_PER_AREA = 4
const PER_KIND = 8
const BEGIN = Date.UTC(2025, 2, 3, 8)
const HOURS = 3_600_000

/**
 * @param {string} sessions folder of Codex sessions, which is created
 * @returns {readonly { kind: string, text: string, session: string }[]} questions, each with the session that answers it
 */
export function makeSecondSet(sessions, seed = 7) {
  const random = randomFrom(seed)
  const int = (low, high) => low + Math.floor(random() * (high - low + 1))
  const pick = (list) => list[int(0, list.length - 1)]
  const shuffled = (list) =>
    list
      .map((one) => [random(), one])
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one)
  const values = () => ({
    noun: pick(WORDS.noun),
    verb: pick(WORDS.verb),
    field: pick(WORDS.field),
    a: int(11, 99),
    b: int(100, 400),
    line: int(10, 900),
  })
  const noise = () => {
    const [name, , , folder] = pick(AREAS)
    const lines = Array.from({ length: int(5, 30) }, () => {
      const { noun, verb, field } = values()
      return pick([
        `${folder}/${noun}.ts:${int(1, 300)}: ${verb}(${field})`,
        ` M ${folder}/${verb}.ts`,
        `${name}: ${verb} ${field}`,
      ])
    })
    return { call: { command: ['git', 'grep', '-n', pick(WORDS.verb)], output: lines } }
  }
  const drafts = []
  const around = (language, name, steps) => {
    const { before, after, answer } = TALK[language]
    const fill = (text) => text.replaceAll('{c}', name)
    return [
      ...(random() < 0.4 ? [{ user: fill(pick(before)) }, noise(), { answer: pick(answer) }] : []),
      ...steps,
      ...(random() < 0.6 ? [{ user: pick(after) }, noise(), { answer: pick(answer) }] : []),
    ]
  }
  for (const [at, language] of LANGUAGES.entries())
    for (const area of AREAS) {
      const name = area[at]
      const other = () => pick(AREAS)[at]
      for (const [n, matter] of shuffled(MATTERS).slice(0, MATTERS_PER_AREA).entries()) {
        const { say, told, ask } = matter[language]
        const [cause, done] = told
        const steps = [
          { user: say.replaceAll('{c}', name) },
          noise(),
          { answer: cause },
          ...(random() < 0.5 ? [noise()] : []),
          { answer: done },
        ]
        drafts.push({
          steps: around(language, other(), steps),
          ...(n < ASKED_PER_AREA && { ask: { kind: language, text: pick(ask).replaceAll('{c}', name) } }),
        })
      }
    }
  const distinct = (keyOf) => {
    const found = new Map()
    while (found.size < PER_KIND) {
      const one = values()
      found.set(keyOf(one), one)
    }
    return [...found.values()]
  }
  for (const failure of FAILURES)
    for (const one of distinct((v) => failure({ ...v, a: 0, b: 0, line: 0 }))) {
      const at = int(0, 2)
      const steps = [
        { user: TALK[LANGUAGES[at]].after[0] },
        { call: { command: ['make'], output: [...noise().call.output, failure(one)] } },
      ]
      drafts.push({
        steps: around(LANGUAGES[at], pick(AREAS)[at], [...steps, { answer: TALK[LANGUAGES[at]].answer[0] }]),
        ask: { kind: 'error', text: failure({ ...one, line: int(901, 999) }) },
      })
    }
  for (const { command, output, ask } of FACTS)
    for (const one of distinct((v) => ask[0](v))) {
      const at = int(0, 2)
      const { after, answer } = TALK[LANGUAGES[at]]
      const steps = [
        { user: pick(after) },
        { call: { command: command(one), output: output(one).split('\n') } },
        { answer: pick(answer) },
      ]
      drafts.push({ steps: around(LANGUAGES[at], pick(AREAS)[at], steps), ask: { kind: 'output', text: ask[at](one) } })
    }
  const questions = []
  for (const [at, { steps, ask }] of shuffled(drafts).entries()) {
    const id = `${(0x1000_0000 + at * 0x1_0037).toString(16)}-0000-7000-8000-${int(0x1000_0000, 0x7fff_ffff).toString(16).padStart(12, '0')}`
    writeSession(sessions, {
      id,
      steps,
      time: BEGIN + at * 7 * HOURS,
      cwd: `/home/dev/work/${pick(['phone', 'cloud'])}`,
    })
    if (ask) questions.push({ ...ask, session: `codex:${id}` })
  }
  return questions
}

function writeSession(folder, { id, steps, time, cwd }) {
  const { header, said, call, result } = linesFrom(time)
  const lines = [header({ id, cwd, source: 'cli' })]
  for (const { user, answer, call: made } of steps) {
    const n = lines.length
    if (made) lines.push(call(n, `call_${n}`, made.command), result(n + 1, `call_${n}`, made.output.join('\n')))
    else lines.push(user === undefined ? said(n, 'assistant', answer) : said(n, 'user', user))
  }
  const [day] = new Date(time).toISOString().split('T')
  const path = join(folder, ...day.split('-'))
  mkdirSync(path, { recursive: true })
  const name = new Date(time).toISOString().slice(0, 19).replaceAll(':', '-')
  writeFileSync(join(path, `rollout-${name}-${id}.jsonl`), `${lines.join('\n')}\n`)
}

/** A linear congruential generator: its high bits are random enough. */
function randomFrom(seed) {
  let state = BigInt(seed) * 2654435761n + 12345n
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
    return Number(state >> 11n) / 2 ** 53
  }
}
