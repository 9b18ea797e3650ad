/** A conversation with a person: asks for what is to be said, shows what happens, asks where consent is needed. */

import { lastExchange } from '../../chat/last-exchange.ts'
import { sandboxLabel } from '../../chat/processes/sandbox.ts'
import type { OpenedTalk, Talk, TalkEvent } from '../../chat.ts'
import { inWords, say } from '../language.ts'
import { isYes, TRUST_MARK, trustText } from '../trust/question.ts'
import { safe } from '../view/conversation.ts'
import { paint } from '../view/paint.ts'
import { count, plural } from '../view/table.ts'
import { inBrackets } from './lines.ts'
import { promptMark } from './mark.ts'
import { markdownText } from './markdown/stream.ts'
import {
  CONSENT_MARK,
  choicesText,
  consentOf,
  isAll,
  type Question,
  questionText,
  unseenText,
} from './output/consent.ts'
import { Screen } from './output/screen.ts'
import { TurnView } from './output/turn-view.ts'
import { edited, paged, ranInShell } from './programs.ts'
import { type Seat, takeSeat } from './seat.ts'

export async function talkWithPerson({ talk, greeting }: OpenedTalk, first: string | undefined): Promise<void> {
  const seat = takeSeat(talk)
  const person = new Person(talk, seat)
  try {
    await person.greet(greeting)
    await person.converse(first)
  } finally {
    await person.leave()
    seat.close()
  }
}

class Person {
  readonly #talk: Talk
  readonly #seat: Seat
  readonly #screen: Screen
  readonly #view: TurnView
  #hasQuit = false

  constructor(talk: Talk, seat: Seat) {
    this.#talk = talk
    this.#seat = seat
    this.#screen = new Screen(seat.columns, seat.isTerminal)
    this.#view = new TurnView(this.#screen, seat.columns)
  }

  async greet(events: readonly TalkEvent[]): Promise<void> {
    const { server, agent, sandboxing } = this.#talk.rig
    const parts = [safe(server.model), safe(agent.name), safe(inWords(sandboxLabel(sandboxing)))]
    await this.#screen.line(`${paint.bold('fumi chat')} ${paint.dim(parts.map((part) => `· ${part}`).join(' '))}`)
    await this.#screen.line(
      paint.dim(
        say('/help lists what can be typed, /quit ends.', '/help で入力できるものの一覧、/quit で終了します。'),
      ),
    )
    for (const event of events) await this.#view.show(event)
    const last = lastExchange(this.#talk.state)
    if (!last) return
    const soFar = say(
      `${plural(last.entries, 'exchange')} so far; the last one:`,
      `これまでのやり取り ${count(last.entries)} 件。最後のやり取り：`,
    )
    await this.#screen.line(paint.dim(soFar))
    await this.#screen.line(`${paint.bold('> ')}${safe(last.prompt)}`)
    await this.#screen.write(markdownText(last.answer, this.#seat.columns))
  }

  async converse(first: string | undefined): Promise<void> {
    let line: string | undefined = first ?? (await this.#next())
    while (line !== undefined) {
      if (line.trim() !== '') await this.#said(line)
      if (this.#hasQuit) return
      line = await this.#next()
    }
  }

  leave(): Promise<void> {
    return this.#view.rest()
  }

  #next(): Promise<string | undefined> {
    return this.#seat.prompt(promptMark(this.#talk))
  }

  async #said(line: string): Promise<void> {
    if (this.#seat.isTerminal && (await this.#here(line))) return
    let written: string | undefined
    this.#view.begin(line)
    for await (const event of this.#talk.say(line)) {
      if (event.kind === 'quit') this.#hasQuit = true
      else if (event.kind === 'edit') written = this.#seat.lend(() => edited(event.text))
      else if (event.kind === 'consent_needed') await this.#consent(event)
      else if (event.kind === 'trust_needed') await this.#trust(event)
      else await this.#view.show(event)
    }
    await this.#view.rest()
    if (written !== undefined && written.trim() !== '') {
      await this.#screen.line(`${paint.bold('> ')}${safe(written)}`)
      await this.#said(written)
    }
  }

  /** What wants the whole screen is done here and not by the conversation. */
  async #here(line: string): Promise<boolean> {
    const { desk, state, rig } = this.#talk
    const command = /^!\s*(\S[\s\S]*)$/.exec(line)?.[1]
    if (command !== undefined) {
      desk.transcribe(line)
      const ended = this.#seat.lend(() => ranInShell(command, rig.place.cwd))
      if (ended !== undefined) await this.#screen.line(paint.dim(inBrackets(ended)))
      return true
    }
    if (line.trim() !== '/transcript' || state.transcript.length === 0) return false
    const text = `${state.transcript.toArray().map(safe).join('\n')}\n`
    return this.#seat.lend(() => paged(text))
  }

  async #trust({ id, trust }: Extract<TalkEvent, { kind: 'trust_needed' }>): Promise<void> {
    await this.#view.rest()
    await this.#screen.write(trustText(trust))
    this.#talk.answer(id, isYes(await this.#seat.answer(TRUST_MARK)) ? 'yes' : 'no')
  }

  async #consent(question: Question): Promise<void> {
    await this.#view.pause(question.id)
    const screen = { columns: this.#seat.columns(), rows: this.#seat.rows() }
    const { text, isCut, isUnseen } = questionText(question, screen)
    let isSeen = !isUnseen
    await this.#screen.line(text + choicesText(question.name, isCut, screen.columns))
    for (;;) {
      const said = await this.#seat.answer(CONSENT_MARK)
      if (said !== undefined && /^\/(?:quit|q|exit)\s*$/.test(said)) this.#hasQuit = true
      if (said === undefined || this.#hasQuit) return this.#talk.interrupt()
      if (/^\/[a-z]+(?:\s|$)/.test(said)) {
        await this.#screen.line(
          paint.dim(say('  commands wait until this is answered', '  先にこの質問に答えてください')),
        )
        continue
      }
      if (!isAll(said) || !isCut) {
        const consent = consentOf(said)
        if (isSeen || (consent !== 'yes' && consent !== 'trust')) return this.#talk.answer(question.id, consent)
        await this.#screen.line(unseenText())
        continue
      }
      isSeen = true
      const whole = questionText(question, screen, true).text
      if (!this.#seat.isTerminal || !this.#seat.lend(() => paged(whole))) await this.#screen.write(whole)
    }
  }
}
