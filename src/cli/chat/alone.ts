/** One prompt without a person: the answer on standard output, all else on standard error, an exit code for each ending. */
import { constants } from 'node:os'
import type { Ending, OpenedTalk, TalkEvent } from '../../chat.ts'
import { say } from '../language.ts'
import { writeData, writeErr, writeJson, writeOut } from '../output.ts'
import { inEnglish } from './english.ts'
import { lineFor } from './lines.ts'
import { PrintableStream } from './output/printable-stream.ts'

/** Those of errors that stop a command are in `model/error.ts`. */
export const ENDINGS: { readonly [how in Ending]: number } = {
  answered: 0,
  failed: 10,
  refused: 11,
  consent: 12,
  overflow: 13,
  limit: 14,
  interrupted: 130,
}

const HUNG_UP = 128 + constants.signals.SIGHUP

/** @param said the whole prompt, and what of it was typed: the rest was piped in and names no files outside of the project */
export async function talkAlone(
  { talk, greeting }: OpenedTalk,
  said: { readonly text: string; readonly typed: string },
  json: boolean,
): Promise<number> {
  const stop = (): void => talk.interrupt()
  // The terminal is gone: what was said is kept, and the exit code is the one of the signal.
  let isHungUp = false
  const hangUp = (): void => {
    isHungUp = true
    talk.interrupt()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', hangUp)
  let how: Ending | undefined
  let isMidLine = false
  // A program gets what was said to the letter, a terminal what is safe to print.
  const printable = new PrintableStream()
  const answered = (text: string): Promise<void> =>
    process.stdout.isTTY ? writeOut(printable.add(text)) : writeData(text)
  const tell = async (event: TalkEvent): Promise<void> => {
    if (json) return writeJson(inEnglish(event))
    if (event.kind === 'delta') {
      isMidLine = !event.text.endsWith('\n')
      return answered(event.text)
    }
    if (event.kind === 'output') return answered(say(event.text, event.ja))
    // An answer with calls ends in the middle of a line.
    if ((event.kind === 'entry' || event.kind === 'ended') && isMidLine) {
      isMidLine = false
      await writeOut(`${printable.end()}\n`)
    }
    const line = lineFor(event)
    if (line !== undefined) await writeErr(`${line}\n`)
  }
  try {
    for (const event of greeting) await tell(event)
    for await (const event of talk.say(said.text, said.typed)) {
      if (event.kind === 'ended') how = event.how
      if (event.kind === 'error') how ??= 'failed'
      await tell(event)
    }
    return isHungUp ? HUNG_UP : ENDINGS[how ?? 'answered']
  } finally {
    process.off('SIGHUP', hangUp)
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}
