/** Keyboard shortcuts of a conversation. */
import type { KeyBindings } from '../navigation/keyboard.ts'
import { messageMarkdown } from './message-markdown.ts'
import { rowOfMessage } from './message-rows.ts'
import type { OpenSession } from './open-session.svelte.ts'
import type { Scroller } from './scroller.svelte.ts'

type ShowMessage = (offset: number, align?: 'start' | 'center') => void

export function conversationKeys(reading: OpenSession, scroller: Scroller, show: ShowMessage): KeyBindings {
  const row = (): number => (reading.cursor >= 0 ? rowOfMessage(reading.rows, reading.cursor) : scroller.top.row - 1)
  const step = (by: 1 | -1): void => {
    const next = Math.min(reading.rows.length - 1, Math.max(0, row() + by))
    reading.cursor = reading.rows[next] ?? -1
    scroller.to(next, 'auto')
  }
  const prompt = (by: 1 | -1): void => {
    const from = reading.cursor >= 0 ? reading.cursor : (reading.rows[scroller.top.row] ?? 0) - 1
    const turn =
      by === 1
        ? reading.turns.find(({ offset }) => offset > from)
        : reading.turns.findLast(({ offset }) => offset < from)
    if (turn) show(turn.offset)
  }
  return {
    j: () => step(1),
    k: () => step(-1),
    n: () => prompt(1),
    p: () => prompt(-1),
    'g g': () => show(0),
    G: () => {
      reading.cursor = reading.rows.at(-1) ?? -1
      scroller.toEnd()
    },
    o: () => elementAt(reading.cursor)?.querySelector<HTMLElement>('[data-steps], [data-fold]')?.click(),
    O: () => reading.toggleAllGroups(),
    w: () => reading.show(reading.view === 'words' ? 'steps' : 'words'),
    y: () => {
      const message = reading.message(reading.cursor)
      if (message) void navigator.clipboard.writeText(messageMarkdown(message))
    },
  }
}

const elementAt = (offset: number): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-messages] [data-offset="${offset}"]`)
