/** The filters of a query on a message that is not in the index. */
import { assertNever } from '../../model/error.ts'
import { findTouchedFiles } from '../../model/files/touched.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { messageKindOf } from '../rows/kind.ts'
import type { QueryFilter } from '../text/query.ts'
import type { Period } from '../text/typed/period.ts'
import { kindFlagsOf } from './conditions.ts'

/** Filters that are about its session hold already. */
export const matchesFilters = (message: NormalizedMessage, filters: readonly QueryFilter[]): boolean =>
  filters.every((filter) => matchesFilter(message, filter))

function matchesFilter(message: NormalizedMessage, filter: QueryFilter): boolean {
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
      const paths = findTouchedFiles(message).map(({ path }) => path.toLowerCase())
      return filter.values.some((value) => paths.some((path) => path.includes(value.toLowerCase()))) !== filter.not
    }
    case 'role':
      return filter.values.includes(message.role) !== filter.not
    case 'has':
      return kindFlagsOf(filter).some((flag) => (messageKindOf(message) & flag) !== 0) !== filter.not
    case 'on':
      return filter.values.some((period) => isInPeriod(message, period)) !== filter.not
    case 'time':
      return isInPeriod(message, filter) !== filter.not
    default:
      return assertNever(filter)
  }
}

const isInPeriod = ({ timestamp }: NormalizedMessage, { from, until }: Partial<Period>): boolean =>
  (from === undefined || timestamp >= from) && (until === undefined || timestamp < until)
