import type { TeamDatabase } from '../../src/team/postgres/database.ts'

export function fillTeam(
  database: TeamDatabase,
  size: { readonly messages: number; readonly sessions: number; readonly people: number },
  isHere: (session: number) => boolean,
  termsOf: (text: string) => readonly number[],
): Promise<void>
