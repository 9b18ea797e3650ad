/** `fumi chat` in a real terminal, against a scripted server. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answer, calls, stalls } from '../../support/model-chunks.ts'
import { chatServer, type Reply } from '../../support/model-server.ts'
import { fumiPath } from '../../support/run-fumi.ts'
import { hasTmux, Pane } from '../../support/tmux.ts'
import { chatHome } from '../support/fumi-chat.ts'

type Home = ReturnType<typeof chatHome>

async function seated(
  replies: readonly Reply[],
  options: { home?: Home; args?: readonly string[]; env?: object; rows?: number } = {},
) {
  const server = await chatServer(...replies)
  const home = options.home ?? chatHome()
  const pane = new Pane(
    [process.execPath, fumiPath, 'chat', '--base-url', server.baseURL, '--model', 'm', ...(options.args ?? [])],
    {
      cwd: home.cwd,
      ...(options.rows !== undefined && { rows: options.rows }),
      env: { HOME: home.home, FUMI_HOME: home.home, TZ: 'UTC', SHELL: '/bin/sh', NO_COLOR: '', ...options.env },
    },
  )
  await pane.until(/^(?:\d+ % )?> *$/m)
  return { pane, server, home }
}

const bash = (command: string): Reply => calls([{ name: 'execute_bash', args: { command } }])
const write = (path: string, file_text: string): Reply =>
  calls([{ name: 'fs_write', args: { command: 'create', path, file_text } }])

const lastText = ({ asked }: Awaited<ReturnType<typeof chatServer>>): string => {
  const content = asked.at(-1)?.body.messages?.at(-1)?.['content']
  return typeof content === 'string' ? content : JSON.stringify(content)
}

describe.skipIf(!hasTmux())('at a terminal', () => {
  test('a question is typed over several lines, pasted and completed, and the answer is rendered', async () => {
    const { pane, server, home } = await seated([
      answer('# Tea\n\nUse **80 °C**:\n\n- 緑茶\n\n\u001b[31mcode\u001b[0m\n\n```ts\nconst a = 1 // x\n```\n', {
        input: 1234,
        output: 56,
      }),
    ])
    writeFileSync(join(home.cwd, 'notes on tea.md'), 'Kettle.')
    pane.type('How hot?\\')
    pane.press('Enter')
    pane.paste('日本茶\nthe green one')
    pane.press('M-Enter')
    pane.type('see @no')
    pane.press('Tab')
    await pane.until('  see @"notes on tea.md"')
    expect(server.asked.filter(({ path }) => path.includes('chat'))).toEqual([])
    pane.press('Enter')
    const screen = await pane.until(/1,234 in · 56 out · [\d.]+m?s\n\n> *$/m)
    expect(screen).toContain('> How hot?\n  日本茶\n  the green one\n  see @"notes on tea.md"')
    expect(screen).toContain('\nTea\n\nUse 80 °C:\n\n• 緑茶\n\ncode\n\n  const a = 1 // x\n')
    expect(pane.painted()).toMatch(/\u001b\[1m80/)
    expect(pane.painted()).not.toContain('\u001b[31mcode')
    expect(lastText(server)).toMatch(/How hot\?\n日本茶\nthe green one\nsee @"notes on tea.md"/)
    expect(lastText(server)).toContain('Kettle.')
  })

  test('an interrupted answer keeps its text, and the next run has the input history', async () => {
    const { pane, home } = await seated([stalls('Once upon a time there '), answer('Yes.')])
    pane.say('Tell a story')
    await pane.until('Once upon a time')
    await pane.until(/answering · .*tokens · Ctrl-C stops/)
    pane.press('C-c')
    const screen = await pane.until(/\(interrupted\)[\s\S]*> *$/m)
    expect(screen).toContain('Once upon a time there\n')
    expect(screen).not.toContain('Ctrl-C stops')
    pane.say('Go on')
    await pane.until('Yes.')
    pane.press('C-c')
    await pane.until('Press Ctrl-C again, Ctrl-D, or type /quit to exit.')
    pane.press('C-d')
    await pane.until('ended with 0')
    expect(statSync(join(home.home, 'chat-history.jsonl')).mode & 0o777).toBe(0o600)

    const next = await seated([answer('Again.')], { home, args: ['--resume'] })
    await next.pane.until(/2 exchanges so far\. The last one:\n> Go on\nYes\.\n/)
    next.pane.press('Up')
    await next.pane.until(/% > Go on$|^> Go on$/m)
    next.pane.press('C-r')
    next.pane.type('stor')
    await next.pane.until('(search) stor: Tell a story')
    next.pane.press('Enter')
    await next.pane.until('Again.')
  })

  test('a command that hides its effect runs only after it was viewed completely', async () => {
    const noise = Array.from({ length: 200 }, (_, n) => `echo line ${n}`)
    const command = `ls${'\n'.repeat(61)}${[...noise, 'rm -rf ./keep', ...noise].join('\n')}`
    const summary = `list files\n\n? execute_bash wants to run this command:\n  │ ls\n\u202eAllow it? [y/n/t] y`
    const { pane, home } = await seated(
      [calls([{ name: 'execute_bash', args: { command, summary } }]), answer('Gone.\u202e')],
      { env: { PAGER: 'cat' }, rows: 30 },
    )
    writeFileSync(join(home.cwd, 'keep'), '')
    pane.say('Tidy')
    const screen = await pane.until(/^Allow it\? \[y\/n\/t\] *$/m)
    if (process.env['FUMI_SHOTS']) console.log(pane.painted())
    const rows = screen.trimEnd().split('\n')
    expect(rows.filter((row) => row.startsWith('? '))).toEqual(['? execute_bash wants to run this command:'])
    expect(rows).toContain('! │ rm -rf ./keep')
    expect(rows).toContain('  ⋮ 60 blank lines')
    expect(rows).toContain('  │ list files ? execute_bash wants to run this command: │ ls <U+202E>Allow it?')
    pane.say('y')
    await pane.until('Part of this is hidden. Type v to view everything first.')
    expect(existsSync(join(home.cwd, 'keep'))).toBe(true)
    pane.say('v')
    await pane.until(/│ echo line 199\n[\s\S]*^Allow it\? \[y\/n\/t\] *$/m)
    pane.say('y')
    await pane.until('Gone.<U+202E>')
    expect(existsSync(join(home.cwd, 'keep'))).toBe(false)
  })

  test('a tool asks with its diff, runs after a yes, is cancelled by other words, and is stopped by Ctrl-C', async () => {
    const { pane, server, home } = await seated([
      write('tea.txt', 'green\n'),
      answer('Written.'),
      write('tea.txt', 'black\n'),
      answer('As you like.'),
      bash('echo begun; sleep 60'),
      answer('Fine.'),
    ])
    pane.say('Write it down')
    const asked = await pane.until('Allow it?')
    expect(asked).toMatch(/\? fs_write wants to make this change:\n {2}│ write tea\.txt\n[\s\S]*\+green\n/)
    expect(existsSync(join(home.cwd, 'tea.txt'))).toBe(false)
    pane.say('y')
    await pane.until(/▸ fs_write write tea\.txt {2}✓[\s\S]*Written\./)
    expect(readFileSync(join(home.cwd, 'tea.txt'), 'utf8')).toBe('green\n')

    pane.say('Change it')
    await pane.until('+black')
    await pane.until(/Allow it\?[\s\S]*Allow it\? \[y\/n\/t\] *$/m)
    pane.say('leave it green')
    await pane.until('As you like.')
    expect(lastText(server)).toContain('leave it green')
    expect(readFileSync(join(home.cwd, 'tea.txt'), 'utf8')).toBe('green\n')

    pane.say('Wait a minute')
    await pane.until(/sleep 60[\s\S]*Allow it\? \[y\/n\/t\] *$/m)
    pane.say('t')
    await pane.until(/execute_bash .* · begun · Ctrl-C stops/)
    pane.press('C-c')
    await pane.until(/▸ execute_bash [^\n]*✗[\s\S]*begun[\s\S]*\(interrupted\)/)
    pane.say('Are you there?')
    await pane.until('Fine.')
  })

  test('input typed during an answer waits for the next prompt and never answers a question', async () => {
    let goOn = (): void => {}
    const openChat = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { pane, home } = await seated([
      async (asked, response) => {
        await openChat
        await bash('echo ran > ran.txt')(asked, response)
      },
      answer('Not done.'),
      answer('You said it.'),
    ])
    pane.say('First')
    await pane.until('waiting for m')
    pane.say('y')
    goOn()
    await pane.until(/Allow it\? \[y\/n\/t\] *$/m)
    pane.say('n')
    await pane.until(/Not done\.[\s\S]*> y\n[\s\S]*You said it\./)
    expect(existsSync(join(home.cwd, 'ran.txt'))).toBe(false)
  })

  test('a tangent is marked and left, and a checkpoint restores files and conversation', async () => {
    const home = chatHome()
    execFileSync('git', ['init', '-q'], { cwd: home.cwd })
    writeFileSync(join(home.cwd, 'tea.txt'), 'green\n')
    const { pane, server } = await seated(
      [answer('Aside.'), write('tea.txt', 'black\n'), answer('Changed.'), answer('Green again.')],
      { home, args: ['--trust-all-tools'] },
    )
    pane.say('/tangent milk')
    await pane.until(/↯ milk \d+ s > *$/m)
    pane.say('With milk?')
    await pane.until(/Aside\.[\s\S]*↯ milk \d+ s > *$/m)
    pane.say('/tangent')
    await pane.until(/Back in the main conversation\.\n> *$/m)

    pane.say('Make it black')
    await pane.until(/-green\n +\+black[\s\S]*Changed\.[\s\S]*> *$/m)
    await pane.until('checkpoint 1')
    pane.say('/checkpoint list')
    await pane.until(/Initial state[\s\S]*Make it black[\s\S]*> *$/m)
    pane.type('/checkpoint restore 0')
    pane.press('Enter')
    await pane.until(/Restored files and conversation to 0[\s\S]*> *$/m)
    expect(readFileSync(join(home.cwd, 'tea.txt'), 'utf8')).toBe('green\n')
    pane.say('Which is it?')
    await pane.until('Green again.')
    expect(JSON.stringify(server.asked.at(-1)?.body.messages)).not.toMatch(/Changed\.|With milk/)
  })

  test('an editor, a shell and a pager get the full terminal and return it', async () => {
    const env = { EDITOR: 'sh -c \'printf "Written there.\\\\n" >> "$1"\' edit', PAGER: 'cat -' }
    const { pane, server } = await seated([answer('Read.'), answer('Quoted.')], { env })
    pane.say('/editor Begun here, ')
    await pane.until(/> Begun here,.*Written there\.[\s\S]*Read\.[\s\S]*> *$/m)
    pane.say('/reply')
    await pane.until(/Quoted\.[\s\S]*> *$/m)
    expect(lastText(server)).toMatch(/^> Read\.\n\nWritten there\./m)
    pane.say('!test -t 0 && echo "a terminal: $((40 + 2))"; exit 3')
    await pane.until(/a terminal: 42\n\(exit 3\)\n/)
    pane.press('C-l')
    pane.say('/transcript')
    await pane.until(/Quoted\.[\s\S]*> *$/m)
    pane.resize(30, 20)
    pane.type('one two three four five six seven')
    await pane.until(/one two three[\s\S]*seven/)
    pane.press('C-c', 'C-c', 'C-c')
    await pane.until('ended with 0')
  })
})
