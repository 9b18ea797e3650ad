/** A conversation with a person, line by line. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Consent, OpenedTalk, Talk, TalkEvent } from '../../chat.ts'
import { writeOut } from '../output.ts'
import { safe } from '../view/conversation.ts'
import { paint } from '../view/paint.ts'
import { lineFor, usageLine } from './lines.ts'
import { promptMark } from './mark.ts'

export async function talkWithPerson({ talk, greeting }: OpenedTalk, first: string | undefined): Promise<void> {
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: process.stdin.isTTY === true,
  })
  const person = new Person(talk, lines)
  try {
    await person.tell(greeting)
    await writeOut(paint.dim(`${talk.rig.server.model}. /help lists what can be typed, /quit ends.\n`))
    await person.converse(first)
  } finally {
    lines.close()
  }
}

class Person {
  readonly #talk: Talk
  readonly #lines: Interface
  readonly #typed: AsyncIterator<string>
  #isMidLine = false
  #hasQuit = false

  constructor(talk: Talk, lines: Interface) {
    this.#talk = talk
    this.#lines = lines
    this.#typed = lines[Symbol.asyncIterator]()
    lines.on('SIGINT', () => {
      if (talk.isRunning) talk.interrupt()
      else lines.close()
    })
  }

  async tell(events: readonly TalkEvent[]): Promise<void> {
    for (const event of events) await this.#show(event)
  }

  async converse(first: string | undefined): Promise<void> {
    let line: string | undefined = first ?? (await this.#ask(promptMark(this.#talk)))
    while (line !== undefined) {
      if (line.trim() !== '') await this.#say(line)
      if (this.#hasQuit) return
      line = await this.#ask(promptMark(this.#talk))
    }
  }

  async #say(line: string): Promise<void> {
    let written: string | undefined
    for await (const event of this.#talk.say(line)) {
      if (event.kind === 'quit') this.#hasQuit = true
      else if (event.kind === 'edit') written = edited(event.text)
      else if (event.kind === 'consent_needed') await this.#consent(event)
      else await this.#show(event)
    }
    if (written !== undefined && written.trim() !== '') await this.#say(written)
  }

  async #consent({ id, name, need }: Extract<TalkEvent, { kind: 'consent_needed' }>): Promise<void> {
    await this.#endLine()
    const danger = need.reason === undefined ? '' : `\n${paint.red(safe(need.reason))}`
    const stale = need.stale ? `\n${safe(need.stale.path)} was changed by somebody else.` : ''
    await writeOut(`${paint.bold(safe(`${name}: ${need.summary}`))}${danger}${stale}\n`)
    if (need.diff !== undefined) await writeOut(`${safe(need.diff)}\n`)
    const said = await this.#ask(
      'Allow it? y (yes), n (no), t (yes, and always in this session), or say what to do instead: ',
    )
    if (said === undefined) this.#talk.interrupt()
    else this.#talk.answer(id, consentOf(said))
  }

  async #show(event: TalkEvent): Promise<void> {
    if (event.kind === 'delta') {
      this.#isMidLine = !event.text.endsWith('\n')
      return writeOut(safe(event.text))
    }
    if (event.kind === 'tool_output') return writeOut(paint.dim(safe(event.text)))
    if (event.kind === 'output') return writeOut(safe(event.text))
    if (event.kind === 'entry') return this.#endLine()
    const line = event.kind === 'usage' ? usageLine(event) : lineFor(event)
    if (line === undefined) return
    await this.#endLine()
    await writeOut(`${event.kind === 'error' ? paint.red(line) : paint.dim(line)}\n`)
  }

  async #endLine(): Promise<void> {
    if (this.#isMidLine) await writeOut('\n')
    this.#isMidLine = false
  }

  /** Nothing at the end of the input. */
  async #ask(mark: string): Promise<string | undefined> {
    this.#lines.setPrompt(mark)
    this.#lines.prompt()
    const { value, done } = await this.#typed.next()
    return done ? undefined : value
  }
}

function consentOf(said: string): Consent {
  const word = said.trim().toLowerCase()
  if (word === 'y' || word === 'yes') return 'yes'
  if (word === 't') return 'trust'
  return word === 'n' || word === 'no' || word === '' ? 'no' : { text: said.trim() }
}

/** Nothing where the editor could not be used. */
function edited(text: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'fumi-edit-'))
  const path = join(folder, 'prompt.md')
  try {
    writeFileSync(path, text, { mode: 0o600 })
    const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi'
    const { status } = spawnSync(`${editor} ${JSON.stringify(path)}`, { stdio: 'inherit', shell: true })
    return status === 0 ? readFileSync(path, 'utf8').trimEnd() : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
