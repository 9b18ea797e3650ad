/** How every writer of entries begins: with whom records go, and how calls are named. */
import { Carrier, type CarrierOptions, type Fate, toldOf } from '../../model/replay/carrier.ts'
import type { Change } from '../../model/replay/change.ts'
import { Fates } from './fates.ts'
import { Pairs } from './pairs.ts'
import { namingWith } from './uses.ts'

/** What there is to say beside the bytes. */
type Said =
  | ReturnType<typeof toldOf<'x_conv'>>[number]
  | { readonly kind: 'loss'; readonly path: string; readonly what: Change; readonly kept_in: 'x_conv' | null }
  | { readonly kind: 'repair'; readonly path: string; readonly what: Change }

export interface BeginOptions extends CarrierOptions {
  readonly cwd: string | undefined
  readonly say: (...said: readonly Said[]) => void
  /** Where the next entry will stand. */
  readonly path: () => string
}

export interface Begun {
  readonly fates: Fates
  readonly pairs: Pairs
  readonly tell: (fate: Fate) => void
  /** Tells what had to be made up or changed. */
  readonly note: (what: Change) => void
}

export function begin({ cwd, say, path, ...carrying }: BeginOptions): Begun {
  const tell = (fate: Fate): void => say(...toldOf([fate], 'x_conv'))
  const note = (what: Change): void => say({ kind: 'repair', path: path(), what })
  const loss = (what: Change): void =>
    say({ kind: 'loss', path: path(), what, kept_in: carrying.isOff ? null : 'x_conv' })
  const pairs = new Pairs(namingWith({ repair: note, loss }), cwd)
  return { fates: new Fates(new Carrier(carrying), tell), pairs, tell, note }
}
