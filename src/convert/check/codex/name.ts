/** The name of a rollout and the folders it stands in. */
import { UUID_PATTERN } from '../../../model/ids.ts'
import { phrase } from '../../../model/phrase.ts'
import type { CodexReport } from './rules.ts'

const ROLLOUT_NAME = new RegExp(
  `^rollout-(\\d{4})-(\\d\\d)-(\\d\\d)T\\d\\d-\\d\\d-\\d\\d-(${UUID_PATTERN})(?:_${UUID_PATTERN})?\\.jsonl(?:\\.zst)?$`,
  'i',
)
/** Archived ones lie in one folder. */
const DATED_FOLDER = /(?:^|\/)sessions\/(.+)$/

/** @param id of the session, where the log tells it */
export function checkFileName(path: string, id: string | undefined, report: CodexReport): void {
  const parts = path.split(/[/\\]/)
  const match = ROLLOUT_NAME.exec(parts.at(-1) ?? '')
  if (!match)
    return report(
      'file_name',
      'name',
      phrase(
        'The name is not `rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl`.',
        '名前が `rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl` の形ではありません。',
      ),
    )
  const [, year, month, day, named] = match
  if (id !== undefined && named?.toLowerCase() !== id.toLowerCase())
    report(
      'file_name',
      'name',
      phrase('The name holds another id than the header.', '名前の ID が見出しの ID と違います。'),
    )
  const below = DATED_FOLDER.exec(parts.slice(0, -1).join('/'))?.[1]
  if (below !== undefined && below !== `${year}/${month}/${day}`)
    report(
      'file_folder',
      'name',
      phrase(
        `The folders should be sessions/${year}/${month}/${day}.`,
        `フォルダーは sessions/${year}/${month}/${day} である必要があります。`,
      ),
    )
}
