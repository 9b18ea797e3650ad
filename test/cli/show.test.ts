/** What `fumi show` prints. */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import codex from '../../src/agents/codex/agent.ts'
import { openConversation } from '../../src/cli/session-overview.ts'
import { textWidth } from '../../src/cli/view/text-width.ts'
import { wrapText } from '../../src/cli/view/wrap-text.ts'
import type { SessionId } from '../../src/model/ids.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { assistant, call, header, line, result, THREAD, tempLog, text, user } from '../support/codex-log.ts'
import { fumi, fumiPath } from '../support/run-fumi.ts'

const show = (lines: readonly string[], ...args: readonly string[]) => fumi(['show', tempLog(text(lines)), ...args])
const showAt = (columns: number, lines: readonly string[], ...args: readonly string[]) =>
  fumi(['show', tempLog(text(lines)), ...args], { env: { COLUMNS: String(columns) } })

const ANSWER = `# Result

The **timer** rings _twice_ because \`ring()\` is called in two places, which nobody noticed:

- first in \`start\`
  - and there again
- then in \`stop\`

\`\`\`ts
function ring() {
    bell.play()
}
\`\`\`

| file | calls |
| --- | ---: |
| a.ts | 12 |
`

const PROMPT = `Why does this ring twice, although it is called in one place only, as far as I see?

    if (late) {
        ring()
    }`

const twoTurns = [
  header(),
  user(1, PROMPT),
  call(2, 'c1', { command: ['cat', 'timer.ts'] }),
  result(3, 'c1', 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nfirst line\n    second line\n'),
  assistant(4, ANSWER),
  user(5, 'And now?'),
  call(6, 'c2', { command: ['npm', 'test'] }),
  call(7, 'c3', { command: ['npm', 'run', 'lint'] }),
  result(8, 'c3', 'ok'),
  assistant(9, 'Fixed.'),
]

describe('text', () => {
  test('answers are rendered Markdown, prompts stay as typed', () => {
    const { code, out } = show(twoTurns)
    expect(code).toBe(0)
    expect(out).toContain(
      `◆ Result

  The timer rings twice because ring() is called in two places, which nobody noticed:

  • first in start
    • and there again
  • then in stop

    function ring() {
        bell.play()
    }

  file  calls
  ────  ─────
  a.ts     12
`,
    )
    expect(out).toContain(`  ${PROMPT.replaceAll('\n', '\n  ').replaceAll('  \n', '\n')}\n`)
  })

  test('wraps between words at the width of the terminal, under the indentation of the line', () => {
    const { out } = showAt(44, twoTurns)
    expect(out).toContain(`  Why does this ring twice, although it is
  called in one place only, as far as I see?

      if (late) {
          ring()
      }
`)
    expect(out).toContain(`◆ Result

  The timer rings twice because ring() is
  called in two places, which nobody
  noticed:
`)
    for (const one of out.split('\n')) expect(textWidth(one)).toBeLessThanOrEqual(44)
  })

  test('a program gets complete lines', () => {
    const long = 'word '.repeat(200).trim()
    const { out } = show([header(), user(1, long), call(2, 'c', { command: ['echo', long] }), assistant(3, long)])
    expect(out.split('\n').filter((one) => one.includes(long))).toHaveLength(3)
  })

  test('characters that reorder or control text are spelled out', () => {
    const { out } = show([header(), user(1, 'a\u202eb'), assistant(2, '**c\u2066d** \u001b[2Je')])
    expect(out).toContain('a<U+202E>b')
    expect(out).toContain('◆ c<U+2066>d e')
  })

  test('wrapping loses no word and no indentation', () => {
    const words = fc.stringMatching(/^[a-zA-Z東京、.-]{1,12}$/)
    const lines = fc.tuple(fc.integer({ min: 0, max: 8 }), fc.array(words, { maxLength: 12 }))
    fc.assert(
      fc.property(fc.array(lines, { minLength: 1, maxLength: 6 }), fc.integer({ min: 24, max: 60 }), (all, width) => {
        const typed = all.map(([indent, list]) => ' '.repeat(list.length > 0 ? indent : 0) + list.join(' '))
        const wrapped = wrapText(typed.join('\n'), width, '  ')
        expect(wrapped.replaceAll(/\s/g, '')).toBe(typed.join('').replaceAll(/\s/g, ''))
        for (const one of wrapped.split('\n')) expect(textWidth(one)).toBeLessThanOrEqual(width)
        for (const one of typed) if (one !== '') expect(wrapped).toContain(`  ${/^ */.exec(one)?.[0]}${one.trim()[0]}`)
        expect(wrapText(typed.join('\n'), Number.POSITIVE_INFINITY, '')).toBe(`${typed.join('\n')}\n`)
      }),
    )
  })
})

test('a call is shown once: in the place of its result, or as unanswered in its own', () => {
  const { out } = show(twoTurns)
  const tools = out.split('\n').filter((one) => one.includes('▸'))
  expect(tools).toEqual([
    expect.stringMatching(/▸ shell cat timer\.ts {2}✓/),
    expect.stringMatching(/▸ shell npm test {2}\? missing/),
    expect.stringMatching(/▸ shell npm run lint {2}✓/),
  ])
})

describe('parts of a session', () => {
  test('--turn shows some turns', () => {
    const first = show(twoTurns, '--turn', '1').out
    expect(first).toContain('❯ 1')
    expect(first).not.toContain('❯ 2')
    const second = show(twoTurns, '--turn', '2').out
    expect(second).toMatch(/❯ 2 .*\n {2}And now\?\n[\s\S]*Fixed\./)
    expect(second).not.toContain('Result')
    expect(show(twoTurns, '--turn', '1..2').out).toBe(
      show(twoTurns).out.replaceAll(/^[^\n]*\n[^\n]*\n/g, (head) => head),
    )
    expect(show(twoTurns, '--turn', '99')).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no turn 99: the session has turns 1 to 2.'),
    })
    expect(show([header()], '--turn', '1')).toMatchObject({ code: 2, err: expect.stringContaining('no turns') })
    expect(show(twoTurns, '--turn', 'x')).toMatchObject({ code: 2 })
    const ids = JSON.parse(show(twoTurns, '--turn', '2', '--json').out).messages.map((one: NormalizedMessage) => one.id)
    expect(ids.map((id: string) => id.slice(id.indexOf('#')))).toEqual(['#6', '#7', '#8', '#9', '#10'])
  })

  test('--at shows the whole message, marked, with its turn around it', () => {
    const { out } = show(twoTurns, '--at', '4')
    expect(out).toMatch(
      /❯ 1 [\s\S]*▶ shell .* · 4 {2}✓[\s\S]*arguments\n {2}command: \["cat","timer\.ts"\]\n {2}output\n[\s\S]*first line\n {6}second line\n[\s\S]*◆ Result/,
    )
    expect(out).not.toContain('And now?')
    const id = JSON.parse(show(twoTurns, '--json').out).messages.find((one: NormalizedMessage) =>
      one.id.endsWith('#4'),
    ).id
    expect(show(twoTurns, '--at', id).out).toBe(out)
    expect(show(twoTurns, '--at', '44')).toMatchObject({ code: 4, err: expect.stringContaining('No message 44') })
  })

  test('--at leaves out messages that are far away, and says how many', () => {
    const calls = Array.from({ length: 40 }, (_, at) => [
      call(at, `c${at}`, { command: [`cmd${at}`] }),
      result(at, `c${at}`, 'ok'),
    ])
    const { out } = show([header(), user(0, 'Go.'), ...calls.flat(), assistant(50, 'Done.')], '--at', '42')
    expect(out).toMatch(/❯ 1 .*\n {2}Go\.\n {2}… 29 messages of this turn not shown \(--turn shows all\)\n/)
    expect(out).toContain('cmd15')
    expect(out).not.toContain('cmd5 ')
    expect(out).not.toContain('Done.')
  })

  test('options that exclude each other are refused', () => {
    for (const args of [
      ['--turn', '1', '--turns'],
      ['--at', '2', '--follow'],
      ['--turn', '1', '--at', '2'],
      ['--follow', '--state'],
    ])
      expect(show(twoTurns, ...args)).toMatchObject({ code: 2, err: expect.stringContaining('cannot be combined') })
  })
})

describe('--follow', () => {
  const following = (path: string, ...args: readonly string[]) => {
    const child = spawn(process.execPath, [fumiPath, 'show', path, '--follow', ...args], {
      env: { ...process.env, NO_COLOR: '1', TZ: 'UTC', FUMI_HOME: tempLog('', 'none') },
    })
    let out = ''
    child.stdout.on('data', (data) => {
      out += data
    })
    const until = async (text: string): Promise<string> => {
      while (!out.includes(text)) await new Promise((resolve) => child.stdout.once('data', resolve))
      return out
    }
    return { until, stop: () => child.kill() }
  }

  test('shows the last turn, then what is added', async () => {
    const path = tempLog(text(twoTurns))
    const { until, stop } = following(path)
    const before = await until('Fixed.')
    expect(before).toContain('❯ 2')
    expect(before).not.toContain('❯ 1')
    appendFileSync(path, text([user(20, 'One more?'), call(21, 'c9', { command: ['ls'] })]))
    await until('One more?')
    appendFileSync(path, `${result(22, 'c9', 'a.ts')}\n${assistant(23, 'That **was** it.').slice(0, 80)}`)
    await until('▸ shell ls  ✓')
    appendFileSync(path, `${assistant(23, 'That **was** it.').slice(80)}\n`)
    const all = await until('That was it.')
    expect(all.match(/One more\?/g)).toHaveLength(1)
    expect(all.match(/❯ 3/g)).toHaveLength(1)
    stop()
  })

  test('prints one message per line with --json', async () => {
    const path = tempLog(text(twoTurns))
    const { until, stop } = following(path, '--json')
    await until('Fixed.')
    appendFileSync(path, text([user(20, 'One more?')]))
    const out = await until('One more?')
    const roles = out
      .trim()
      .split('\n')
      .map((one) => (JSON.parse(one) as NormalizedMessage).role)
    expect(roles).toEqual(['user', 'tool', 'tool', 'tool', 'assistant', 'user'])
    stop()
  })
})

describe('a large session', () => {
  const FILLER = 'x'.repeat(20_000)
  const turns = (count: number) =>
    Array.from({ length: count }, (_, at) => [
      user(at, `Question ${at}`),
      line(at, 'event_msg', { type: 'user_message', message: `Question ${at}` }),
      call(at, `c${at}`, { command: ['cat'] }),
      result(at, `c${at}`, FILLER),
      assistant(at, `Answer ${at}`),
    ]).flat()
  const open = async (path: string, isComplete: boolean) => {
    const log = { agent: codex as Agent, source: { agent: codex.id, path }, unknown: false }
    const { messages, facts, session } = await openConversation(log, `codex:${THREAD}` as SessionId, { isComplete })
    const list: NormalizedMessage[] = []
    for await (const message of messages) list.push(message)
    return { list, facts, session }
  }

  test('is the same whether it is shown while it is read or afterwards', async () => {
    for (const lines of [
      [header(), ...turns(500)],
      [header(), ...turns(500).filter((one) => !one.includes('"response_item"')), FILLER.repeat(500)],
    ]) {
      const path = tempLog(text(lines))
      const [streamed, complete] = [await open(path, false), await open(path, true)]
      expect(streamed.list).toEqual(complete.list)
      expect(streamed.facts.eventsOnly).toBe(complete.facts.eventsOnly)
      expect(streamed.session).toMatchObject({ id: complete.session?.id, first_prompt: 'Question 0' })
    }
  })

  test('with a rollback is read before it is shown', async () => {
    const rollback = line(900, 'event_msg', { type: 'thread_rolled_back', num_turns: 1 })
    const { out } = show([header(), ...turns(500), rollback, user(901, 'Again')])
    expect(out).toMatch(/❯ 500 .* \(rolled back\)\n {2}Question 499/)
    expect(out.match(/rolled back/g)).toHaveLength(1)
  })
})
