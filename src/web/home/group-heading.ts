/** The heading of a group of sessions: its day, agent or directory, in words. */
import { agentName } from '../agent-names.ts'
import { dayName, dayOf, daysBetween, homeRelativePath, pathBaseName } from '../format.ts'
import { say } from '../i18n/home.ts'
import { language } from '../i18n/language.svelte.ts'
import type { Grouping, SessionGroup } from './session-view.ts'

export function headingOf({ name, isUndated }: SessionGroup, by: Grouping): string {
  if (isUndated) return `${say.noDate} · ${pathBaseName(name)}`
  if (by === 'agent') return agentName(name)
  if (by === 'project') return name === '' ? say.noProject : homeRelativePath(name)
  const today = dayOf(new Date().toISOString())
  const ago = daysBetween(name, today)
  return ago === 0 ? say.today : ago === 1 ? say.yesterday : dayName(name, today, language.locale)
}
