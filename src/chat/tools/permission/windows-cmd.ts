/** Commands for cmd.exe, whose quoting nobody can predict: only lines of letters, digits and blanks are judged by their words. */
import { phrase } from '../../../model/phrase.ts'
import { programBaseName } from './started-programs.ts'

/** No quotes, carets, variables, delimiters other than the blank, nor patterns. */
const PLAIN_LINE = /^[A-Za-z0-9_.\\/:-]+(?: +[A-Za-z0-9_.\\/:-]+)*$/
/** Names of devices block or act, and a path that begins with two slashes sends the user's credentials to another machine. */
const DEVICE_NAME =
  /(?:^|[ \\/:])(?:con|prn|aux|nul|clock\$|com\d|lpt\d|conin\$|conout\$)(?:[.:\\/ ]|$)|(?:^|[ :])[\\/]{2}/i

export const isPlainCmd = (line: string): boolean => PLAIN_LINE.test(line) && !DEVICE_NAME.test(line)

export const isReadOnlyCmd = (line: string): boolean => isPlainCmd(line) && /^(?:dir|type)(?: |$)/i.test(line)

export const CMD_UNCLEAR = phrase('cmd may read it in another way', 'cmd では別の意味に解釈される可能性があります')

/** What a rule that denies is compared with: each command of the line, without quotes, carets, paths and extensions. */
export function cmdCommandTexts(line: string): readonly string[] {
  const clean = (text: string): string => text.replaceAll(/[\^"]/g, '').trim()
  return [line, ...line.split(/[&|()<>\r\n]+/)].flatMap((part) => {
    const text = clean(part)
      .replace(/^@/, '')
      .replaceAll(/[ \t,;=]+/g, ' ')
      .trim()
    const [name = '', ...rest] = text.split(' ')
    const short = programBaseName(name.replaceAll('\\', '/')).replace(/\.(?:exe|com|bat|cmd)$/i, '')
    return [part, clean(part), text, [short, ...rest].join(' ')]
  })
}
