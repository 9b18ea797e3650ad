/** Builds the outline: prompts in order, with checkpoints at their time. */
import type { CheckpointItem } from '../../model/api/session.ts'
import type { TurnItem } from '../../model/api/turn.ts'

export interface OutlineLine {
  readonly key: string
  readonly kind: 'prompt' | 'tangent' | 'checkpoint'
  readonly mark: string
  readonly text: string
  readonly offset: number
  readonly rolledBack: boolean
}

export const checkpointKey = (tag: string): string => `checkpoint ${tag}`

export function conversationOutline(
  turns: readonly TurnItem[],
  checkpoints: readonly CheckpointItem[],
): readonly OutlineLine[] {
  const waiting = checkpoints.toSorted((a, b) => (a.at < b.at ? -1 : 1))
  const lines: OutlineLine[] = []
  let offset = 0
  for (const turn of turns) {
    while (waiting[0] && turn.started_at !== null && waiting[0].at < turn.started_at)
      lines.push(checkpointLine(waiting.shift() as CheckpointItem, offset))
    offset = turn.offset
    lines.push({
      key: `turn ${turn.number}`,
      kind: turn.tangent ? 'tangent' : 'prompt',
      mark: turn.tangent ? '⎇' : String(turn.number),
      text: turn.prompt ?? '…',
      offset,
      rolledBack: turn.rolled_back === true,
    })
  }
  return [...lines, ...waiting.map((one) => checkpointLine(one, offset))]
}

function checkpointLine({ tag, description, files }: CheckpointItem, offset: number): OutlineLine {
  const changed = files ? ` +${files.added} ~${files.modified} −${files.deleted}` : ''
  return {
    key: checkpointKey(tag),
    kind: 'checkpoint',
    mark: '◆',
    text: `${tag}${changed}${description ? ` ${description}` : ''}`,
    offset,
    rolledBack: false,
  }
}
