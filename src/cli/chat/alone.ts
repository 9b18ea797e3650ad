/** One prompt without a person: the answer on standard output, all else on standard error, an exit code for each ending. */
import type { Ending, OpenedTalk, TalkEvent } from '../../chat.ts'
import { say } from '../language.ts'
import { writeErr, writeOut } from '../output.ts'
import { safe } from '../view/conversation.ts'
import { inEnglish } from './english.ts'
import { lineFor } from './lines.ts'

/** Those of errors that stop a command are in `model/error.ts`. */
export const ENDINGS: { readonly [how in Ending]: number } = {
  answered: 0,
  failed: 10,
  refused: 11,
  consent: 12,
  overflow: 13,
  interrupted: 130,
}

/** A program gets what was said to the letter, a terminal no escape sequences. */
const shown = (text: string): string => (process.stdout.isTTY ? safe(text) : text)

export async function talkAlone({ talk, greeting }: OpenedTalk, prompt: string, json: boolean): Promise<number> {
  const stop = (): void => talk.interrupt()
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  let how: Ending | undefined
  let isMidLine = false
  const tell = async (event: TalkEvent): Promise<void> => {
    if (json) return writeOut(`${JSON.stringify(inEnglish(event))}\n`)
    if (event.kind === 'delta') {
      isMidLine = !event.text.endsWith('\n')
      return writeOut(shown(event.text))
    }
    if (event.kind === 'output') return writeOut(shown(say(event.text, event.ja)))
    // An answer with calls ends in the middle of a line.
    if ((event.kind === 'entry' || event.kind === 'ended') && isMidLine) {
      isMidLine = false
      await writeOut('\n')
    }
    const line = lineFor(event)
    if (line !== undefined) await writeErr(`${line}\n`)
  }
  try {
    for (const event of greeting) await tell(event)
    for await (const event of talk.say(prompt)) {
      if (event.kind === 'ended') how = event.how
      if (event.kind === 'error') how ??= 'failed'
      await tell(event)
    }
    return ENDINGS[how ?? 'answered']
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}
