/**
 * Holds the window's words for what crosses the border against those generated from Rust: where
 * they part, `npm run check` fails. Types only; nothing of it reaches the page.
 */
import type * as Rust from './bindings';
import type * as Window from './types';

/** Rust's numbers arrive as `number | null`, since JSON has no NaN. */
type Loose<T> = T extends number
  ? number | null
  : T extends string | boolean | null | undefined
    ? T
    : T extends (infer U)[]
      ? Loose<U>[]
      : { [K in keyof T]: Loose<T[K]> };

/** What Rust sends is what the window reads. */
type Read<Sent, Wanted> = [Sent] extends [Loose<Wanted>] ? true : false;
/** What the window sends is what Rust reads. */
type Taken<Sent, Wanted> = [Sent] extends [Loose<Wanted>] ? true : false;

type Agreed<All extends true[]> = All;

/** One `true` for each type that agrees; a `false` does not compile. */
export type Contract = Agreed<
  [
    Read<Rust.VaultStatus_Serialize, Window.VaultStatus>,
    Read<Rust.RecoverySheet, Window.RecoverySheet>,
    Read<Rust.TokenMeter, Window.TokenMeter>,
    Read<Rust.Provider_Serialize, Window.Provider>,
    Read<Rust.ProviderTest_Serialize, Window.ProviderTest>,
    Read<Rust.DetectedServer_Serialize, Window.DetectedServer>,
    Read<Rust.ModelOffer_Serialize, Window.ModelOffer>,
    Read<Rust.ModelInfo_Serialize, Window.ModelInfo>,
    Read<Rust.ModelFileRemoval, Window.ModelFileRemoval>,
    Read<Rust.Settings_Serialize, Omit<Window.Settings, keyof Window.UpkeepSettings>>,
    Read<Rust.AppInfo, Window.AppInfo>,
    Read<Rust.ErrorBody, Window.ErrorBody>,
    Read<Rust.Change, Window.Change>,
    Read<Rust.EngineNotice, Window.EngineNews>,
    Taken<Window.UnlockMethod, Rust.UnlockMethod>,
    Taken<Window.RecoveryWords, Rust.RecoveryWords>,
    Taken<Window.ContextDraft, Rust.ContextDraft_Deserialize>,
    Taken<Window.ContextPatch, Rust.ContextPatch_Deserialize>,
    Taken<Window.PresetOverrides, Rust.PresetOverrides_Deserialize>,
    Taken<Window.SendRequest, Rust.SendRequest_Deserialize>,
    Taken<Window.ProviderDraft, Rust.ProviderDraft_Deserialize>,
    Taken<Omit<Window.Settings, keyof Window.UpkeepSettings>, Rust.Settings_Deserialize>,
  ]
>;
