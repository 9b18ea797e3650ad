/** What is typed while the model answers. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decodeKeys } from '../../../src/cli/chat/input/keys.ts'
import { PromptQueue } from '../../../src/cli/chat/input/prompt-queue.ts'
import { tempFolder } from '../../support/codex-log.ts'
import { answer, stalls } from '../../support/model-chunks.ts'
import { chatServer } from '../../support/model-server.ts'
import { fumiPath } from '../../support/run-fumi.ts'
import { hasTmux, Pane } from '../../support/tmux.ts'
import { chatHome } from '../support/fumi-chat.ts'

function typed(...pieces: readonly string[]): PromptQueue {
  const queue = new PromptQueue()
  for (const key of decodeKeys(pieces.join('')).keys) queue.press(key)
  return queue
}

describe('the queue', () => {
  test('takes a draft on Enter, gives it back on Up, and sends in order', () => {
    const queue = typed('one\r', 'two\r', '\r', 'three')
    expect(queue.queued).toEqual(['one', 'two'])
    expect(queue.editor.line.text).toBe('three')
    expect(queue.rows(40).join('\n')).toMatch(/queued: one\n.*queued: two\n> three▏/)
    const taken = typed('one\r', 'two\r', '\u001b[A', '!')
    expect([taken.queued, taken.editor.line.text]).toEqual([['one'], 'two!'])
    expect([queue.next(), queue.next(), queue.next()]).toEqual(['one', 'two', undefined])
  })

  test('after a failure, the next prompt is offered and not sent; a draft is never replaced', () => {
    const queue = typed('one\r', 'two\r')
    queue.hold()
    expect(queue.next()).toBeUndefined()
    expect(queue.editor.line.text).toBe('one')
    queue.editor.setText('')
    expect(queue.next()).toBe('two')
    const drafting = typed('one\r', 'draft')
    drafting.hold()
    expect([drafting.next(), drafting.editor.line.text, drafting.queued]).toEqual([undefined, 'draft', ['one']])
  })

  test('rows fit any width and long queues are short', () => {
    const queue = typed(...Array.from({ length: 9 }, (_, n) => `${'長い依頼 '.repeat(30)}${n}\r`), 'x'.repeat(500))
    for (const width of [20, 60, 200]) for (const row of queue.rows(width)) expect(row.length).toBeLessThan(width + 30)
    expect(queue.rows(60).join('\n')).toContain('6 more')
  })
})

describe.skipIf(!hasTmux())('at a terminal', () => {
  test('type-ahead is visible and queued; Ctrl-C stops the answer and not the queue; the exit prints how to continue', async () => {
    const server = await chatServer(stalls('Once upon a time\n\nthere'), answer('Second answer.'))
    const home = chatHome()
    const pane = new Pane([process.execPath, fumiPath, 'chat', '--base-url', server.baseURL, '--model', 'm'], {
      cwd: home.cwd,
      columns: 60,
      env: { HOME: home.home, FUMI_HOME: home.home, SHELL: '/bin/sh', NO_COLOR: '1', LANG: 'en_US.UTF-8' },
    })
    await pane.until(/^> *$/m)
    pane.say('First')
    await pane.until('Once upon a time')
    pane.say('Second')
    await pane.until('queued: Second')
    pane.type('draft')
    await pane.until('> draft▏')
    pane.press('C-c')
    const screen = await pane.until(/Second answer\.[\s\S]*^> draft *$/m)
    expect(screen).toMatch(/Once upon a time\n\nthere\n\(interrupted\)[\s\S]*> Second\n/)
    expect(screen).not.toMatch(/queued:|▏/)
    pane.press('C-u')
    pane.say('/quit')
    expect(await pane.until('ended with 0')).toMatch(/To continue: fumi chat --resume [\da-f-]{13}\n/)
  })

  test('Ctrl-V attaches the image in the clipboard, also to a queued prompt', async () => {
    const server = await chatServer(stalls('Wait'), answer('A dot.'), answer('Another.'))
    const home = chatHome()
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    writeFileSync(join(home.cwd, 'shot.png'), png)
    const bin = tempFolder()
    const program = `#!/bin/sh\n[ "$3" = image/png ] && cat '${join(home.cwd, 'shot.png')}'\n`
    writeFileSync(join(bin, 'wl-paste'), program, { mode: 0o755 })
    const pane = new Pane([process.execPath, fumiPath, 'chat', '--base-url', server.baseURL, '--model', 'm'], {
      cwd: home.cwd,
      env: {
        ...{ HOME: home.home, FUMI_HOME: home.home, SHELL: '/bin/sh', NO_COLOR: '1', LANG: 'en_US.UTF-8' },
        PATH: `${bin}:${process.env['PATH']}`,
      },
    })
    await pane.until(/^> *$/m)
    pane.say('First')
    await pane.until('answering')
    pane.press('C-v')
    await pane.until('pasted.png')
    pane.say('What is it?')
    await pane.until('queued: ')
    pane.press('C-c')
    await pane.until('A dot.')
    await pane.until(/^> *$/m)
    pane.press('C-v')
    pane.say('And this?')
    await pane.until('Another.')
    for (const { body } of server.asked.slice(1))
      expect(JSON.stringify(body.messages?.at(-1))).toContain(`data:image/png;base64,${png.toString('base64')}`)
    pane.say('/quit')
    await pane.until('ended with 0')
  })

  test('--plain prints lines only: no colours, no status line, no redrawing', async () => {
    const server = await chatServer(answer('# Tea\n\nUse **hot** water.'))
    const home = chatHome()
    const pane = new Pane(
      [process.execPath, fumiPath, 'chat', '--plain', '--base-url', server.baseURL, '--model', 'm'],
      {
        cwd: home.cwd,
        env: { HOME: home.home, FUMI_HOME: home.home, SHELL: '/bin/sh', LANG: 'en_US.UTF-8' },
      },
    )
    await pane.until(/^> *$/m)
    pane.say('Tea?')
    expect(await pane.until(/Use hot water\.[\s\S]* in · /)).not.toMatch(/⠋|Ctrl-C stops/)
    expect(pane.painted()).not.toContain('\u001b[')
    pane.say('/quit')
    await pane.until('ended with 0')
  })
})
