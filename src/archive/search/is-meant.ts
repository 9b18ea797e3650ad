/** The filters of a query on a message that is not in the index. */
import { never } from '../../model/error.ts'
import { filesTouched } from '../../model/files/touched.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { kindOf } from '../rows/kind.ts'
import type { Filter } from '../text/query.ts'
import type { Period } from '../text/typed/period.ts'
import { flagsOf } from './conditions.ts'

/** Filters that are about its session hold already. */
export const isMeant = (message: NormalizedMessage, filters: readonly Filter[]): boolean =>
  filters.every((filter) => holds(message, filter))

function holds(message: NormalizedMessage, filter: Filter): boolean {
  switch (filter.kind) {
    case 'agent':
    case 'project':
    case 'session':
    case 'model':
    case 'is':
    case 'tag':
    case 'sessions':
      return true
    case 'tool': {
      const tool = message.tool_call?.name?.toLowerCase()
      return filter.values.some((value) => value.toLowerCase() === tool) !== filter.not
    }
    case 'file': {
      const paths = filesTouched(message).map(({ path }) => path.toLowerCase())
      return filter.values.some((value) => paths.some((path) => path.includes(value.toLowerCase()))) !== filter.not
    }
    case 'role':
      return filter.values.includes(message.role) !== filter.not
    case 'has':
      return flagsOf(filter).some((flag) => (kindOf(message) & flag) !== 0) !== filter.not
    case 'on':
      return filter.values.some((period) => isIn(message, period)) !== filter.not
    case 'time':
      return isIn(message, filter) !== filter.not
    default:
      return never(filter)
  }
}

const isIn = ({ timestamp }: NormalizedMessage, { from, until }: Partial<Period>): boolean =>
  (from === undefined || timestamp >= from) && (until === undefined || timestamp < until)
