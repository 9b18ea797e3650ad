/**
 * Makes an archive of invented sessions, and questions whose answer is in one of them. The same seed gives the same
 * bytes. Frozen before the ranking was tuned: a change to this file or to memory-topics.mjs makes earlier results
 * incomparable.
 *
 * Each question shares its component with about a dozen other sessions, and its problem with as many again, in three
 * languages. Every session also contains tool output that lists other components and other problems.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesFrom } from './codex-lines.mjs'
import { CHORES, COMPONENTS, ERRORS, NAMES, OUTPUTS, PROBLEMS, SMALL_TALK } from './memory-topics.mjs'

const LANGUAGES = ['en', 'ja', 'zh']
const PROJECTS = ['storefront', 'backoffice', 'platform'].map((name) => `/home/dev/src/${name}`)
/** Problems asked about for each component. */
const ASKED_PER_COMPONENT = 4
const ERRORS_PER_KIND = 6
const OUTPUTS_PER_KIND = 9
const CHORES_PER_COMPONENT = 3
const DAY = 86_400_000
const BEGIN = Date.UTC(2026, 0, 5, 9)

/**
 * @param {string} sessions folder of Codex sessions, which is created
 * @returns {readonly { kind: string, text: string, session: string }[]} questions, each with the session that answers it
 */
export function makeQuestions(sessions, seed = 1) {
  const random = randomFrom(seed)
  const pick = (list) => list[Math.floor(random() * list.length)]
  const int = (low, high) => low + Math.floor(random() * (high - low + 1))
  const shuffled = (list) =>
    list
      .map((one) => [random(), one])
      .sort((a, b) => a[0] - b[0])
      .map(([, one]) => one)
  const hex = (length) => Array.from({ length }, () => int(0, 15).toString(16)).join('')
  const uuid = () => `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`
  const questions = []
  const drafts = []

  const fill = (text, { file, symbol }, name) =>
    text.replaceAll('{c}', name).replaceAll('{f}', file).replaceAll('{s}', symbol)
  const noise = () => {
    const commits = Array.from({ length: int(6, 25) }, () => {
      const component = pick(COMPONENTS)
      const problem = pick(PROBLEMS)
      return `${hex(7)} ${component.en[0]}: ${problem.en.fix.split(/[.,;:]/)[0].replaceAll('{c}', component.en[0])}`
    })
    const listing = Array.from(
      { length: int(4, 30) },
      () => `-rw-r--r-- 1 dev dev ${int(200, 90_000)} ${pick(COMPONENTS).file}`,
    )
    const matches = Array.from({ length: int(4, 20) }, () => {
      const { file, symbol } = pick(COMPONENTS)
      return `${file}:${int(1, 400)}:  const ${pick(NAMES.field)} = await ${symbol}(${pick(NAMES.field)})`
    })
    return pick([
      { command: ['git', 'log', '--oneline'], output: commits },
      { command: ['ls', '-l', 'src'], output: listing },
      { command: ['rg', '-n', 'await', 'src'], output: matches },
      { command: ['npm', 'test'], output: [...matches.map((one) => `✓ ${one.slice(0, 40)}`), 'Tests: 214 passed'] },
    ])
  }
  /** Steps of a session: what people and models say, and calls with their output. */
  const withNoise = (steps, language) => {
    const talk = SMALL_TALK[language]
    const before = Array.from({ length: int(0, 2) }, () => [
      { user: fill(pick(CHORES[language]), ...chore(language)) },
      { call: noise() },
      { answer: pick(talk.answer) },
    ])
    const after = Array.from({ length: int(0, 3) }, () => [
      { user: pick(talk.prompt) },
      { call: noise() },
      { answer: pick(talk.answer) },
    ])
    return [...before.flat(), ...steps, ...after.flat()]
  }
  const chore = (language) => {
    const component = pick(COMPONENTS)
    return [component, component[language][0]]
  }
  const add = (steps, ask) => drafts.push({ id: uuid(), steps, ask })

  for (const language of LANGUAGES)
    for (const component of COMPONENTS) {
      const [usual, other] = component[language]
      const problems = shuffled(PROBLEMS)
      for (const [at, problem] of problems.entries()) {
        const { say, cause, fix, sum, ask } = problem[language]
        // The rest are sessions about the same component, which must not be mistaken for the answer.
        const isAsked = at < ASKED_PER_COMPONENT
        if (!isAsked && at >= ASKED_PER_COMPONENT * 2) break
        const steps = [
          { user: fill(pick(say), component, usual) },
          {
            call: {
              command: ['sed', '-n', '1,80p', component.file],
              output: [
                `export function ${component.symbol}() {`,
                ...Array.from(
                  { length: int(5, 40) },
                  () => `  const ${pick(NAMES.field)} = ${pick(NAMES.service)}.${pick(NAMES.field)}`,
                ),
                '}',
              ],
            },
          },
          { answer: fill(cause, component, usual) },
          ...(random() < 0.5 ? [{ call: noise() }] : []),
          { answer: fill(fix, component, random() < 0.3 ? other : usual) },
          { user: pick(SMALL_TALK[language].prompt) },
          { answer: fill(sum, component, random() < 0.3 ? other : usual) },
        ]
        const named = pick([usual, usual, usual, other, component.symbol])
        add(
          withNoise(steps, language),
          isAsked
            ? {
                kind: language,
                text: fill(
                  pick(ask),
                  component,
                  named === other && random() < 0.5 ? `${other} (${component.file})` : named === other ? usual : named,
                ),
              }
            : undefined,
        )
      }
      for (let n = 0; n < CHORES_PER_COMPONENT; n++)
        add(
          withNoise(
            [
              { user: fill(pick(CHORES[language]), component, usual) },
              { call: noise() },
              { answer: pick(SMALL_TALK[language].answer) },
            ],
            language,
          ),
        )
    }

  const values = () => ({
    ...Object.fromEntries(Object.entries(NAMES).map(([name, list]) => [name, pick(list)])),
    ...pick(COMPONENTS),
    line: int(12, 480),
    port: int(3000, 9800),
    version: `${int(1, 9)}.${int(0, 20)}.${int(0, 9)}`,
    hash: hex(8),
    a: int(20, 900),
    b: int(901, 4000),
  })
  /** Values that differ from all others of the list in what the question names. */
  const distinctValues = (count, keyOf) => {
    const found = new Map()
    while (found.size < count) {
      const one = values()
      found.set(keyOf(one), one)
    }
    return [...found.values()]
  }
  for (const { text, fix } of ERRORS)
    for (const one of distinctValues(ERRORS_PER_KIND, (v) => text({ ...v, line: 0, port: 0 }))) {
      const language = pick(LANGUAGES)
      const steps = [
        { user: pick(['It fails. Please fix it.', '失敗します。直してください。', '失败了，请修一下。']) },
        {
          call: {
            command: ['npm', 'start'],
            output: [
              '> start',
              ...Array.from({ length: int(3, 30) }, () => `[${pick(NAMES.service)}] ready in ${int(3, 900)} ms`),
              ...text(one).split('\n'),
            ],
          },
        },
        { answer: fix(one) },
      ]
      // Another occurrence: the text is the same, the position is not.
      add(withNoise(steps, language), { kind: 'error', text: text({ ...one, line: int(500, 900), port: one.port }) })
    }
  for (const { command, output, ask } of OUTPUTS)
    for (const one of distinctValues(OUTPUTS_PER_KIND, (v) => ask.en(v))) {
      const language = pick(LANGUAGES)
      const talk = SMALL_TALK[language]
      const steps = [
        { user: pick(talk.prompt) },
        { call: { command: command(one), output: output(one).split('\n') } },
        { answer: pick(talk.answer) },
      ]
      add(withNoise(steps, language), { kind: 'output', text: ask[language](one) })
    }

  mkdirSync(sessions, { recursive: true })
  for (const [at, { id, steps, ask }] of shuffled(drafts).entries()) {
    const time = BEGIN + at * (DAY / 2) + int(0, DAY / 4)
    writeSession(sessions, { id, steps, time, cwd: pick(PROJECTS) })
    if (ask) questions.push({ ...ask, session: `codex:${id}` })
  }
  return questions
}

function writeSession(folder, { id, steps, time, cwd }) {
  const { header, said, call, result } = linesFrom(time)
  const lines = [header({ id, cwd, source: 'cli' })]
  for (const step of steps) {
    const n = lines.length
    if (step.user !== undefined) lines.push(said(n, 'user', step.user))
    else if (step.answer !== undefined) lines.push(said(n, 'assistant', step.answer))
    else {
      lines.push(call(n, `call_${n}`, step.call.command))
      lines.push(result(n + 1, `call_${n}`, step.call.output.join('\n')))
    }
  }
  const [day] = new Date(time).toISOString().split('T')
  const path = join(folder, ...day.split('-'))
  mkdirSync(path, { recursive: true })
  writeFileSync(
    join(path, `rollout-${new Date(time).toISOString().slice(0, 19).replaceAll(':', '-')}-${id}.jsonl`),
    `${lines.join('\n')}\n`,
  )
}

function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
