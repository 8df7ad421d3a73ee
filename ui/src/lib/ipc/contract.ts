/**
 * Holds the window's words for what crosses the border against those generated from Rust: where
 * they part, `npm run check` fails. Types only; nothing of it reaches the page.
 */
import type * as Archive from './archive';
import type * as Rust from './bindings';
import type * as Connections from './connections';
import type * as Diagnosis from './diagnosis';
import type * as Health from './health';
import type * as Keys from './keys';
import type * as Life from './life';
import type * as Memory from './memory';
import type * as Operations from './operations';
import type * as Tools from './tools';
import type * as Window from './types';

/** Rust's numbers arrive as `number | null`, since JSON has no NaN. */
type Loose<T> = unknown extends T
  ? T
  : T extends number
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
    Read<Rust.VaultSlots_Serialize, Keys.VaultSlots>,
    Read<Rust.KeyChange_Serialize, Keys.KeyChange>,
    Read<Rust.Context_Serialize, Window.Context>,
    Read<Rust.ContextPage_Serialize, Life.ContextPage>,
    Read<Rust.RevisionUse_Serialize, Life.RevisionUse>,
    Read<Rust.PersonaAdvice_Serialize, Life.PersonaAdvice>,
    Read<Rust.RecommendedHistory, Life.RecommendedHistory>,
    Read<Rust.TrashItem_Serialize, Life.TrashItem>,
    Read<Rust.TrashSummary_Serialize, Life.TrashSummary>,
    Read<Rust.Preset_Serialize, Window.Preset>,
    Read<Rust.PresetPage_Serialize, Life.PresetPage>,
    Read<Rust.Conversation_Serialize, Window.Conversation>,
    Read<Rust.ConversationPage_Serialize, Window.ConversationPage>,
    Read<Rust.ConversationView_Serialize, Window.ConversationView>,
    Read<Rust.EarlierMessages_Serialize, Window.EarlierMessages>,
    Read<Rust.LaterMessages_Serialize, Life.LaterMessages>,
    Read<Rust.ConversationStatistics_Serialize, Life.ConversationStatistics>,
    Read<Rust.Message_Serialize, Window.Message>,
    Read<Rust.SearchHit, Life.SearchHit>,
    Read<Rust.TokenMeter_Serialize, Window.TokenMeter>,
    Read<Rust.ChatEvent_Serialize, Window.ChatEvent>,
    Read<Rust.CareCard, Window.CareCard>,
    Read<Rust.Provider_Serialize, Window.Provider>,
    Read<Rust.ProviderTest_Serialize, Window.ProviderTest>,
    Read<Rust.DetectedServer_Serialize, Window.DetectedServer>,
    Read<Rust.ModelOffer_Serialize, Window.ModelOffer>,
    Read<Rust.ModelInfo_Serialize, Window.ModelInfo>,
    Read<Rust.ModelFileRemoval, Window.ModelFileRemoval>,
    Read<Rust.JobStatus_Serialize, Window.Job>,
    Read<Rust.BackupInfo_Serialize, Window.BackupInfo>,
    Read<Rust.RestorePreview_Serialize, Window.RestorePreview>,
    Read<Rust.ForgetReport_Serialize, Window.ForgetReport>,
    Read<Rust.RestoreReport_Serialize, Window.RestoreReport>,
    Read<Rust.RestoreProgress, Window.RestoreProgress>,
    Read<Rust.ClosedRestore_Serialize, Window.ClosedRestore>,
    Read<Rust.VaultHealth_Serialize, Health.VaultHealth>,
    Read<Rust.RescueOffer_Serialize, Health.RescueOffer>,
    Read<Rust.DataSummary, Window.DataSummary>,
    Read<Rust.FeatureInfo, Window.FeatureInfo>,
    Read<Rust.Settings_Serialize, Window.Settings>,
    Read<Rust.AppInfo, Window.AppInfo>,
    Read<Rust.ErrorBody, Window.ErrorBody>,
    Read<Rust.Change, Window.Change>,
    Read<Rust.EngineNotice, Window.EngineNews>,
    Read<Rust.ExpiringContext, Window.ContextExpiring>,
    Read<Rust.Receipt_Serialize, Memory.Receipt>,
    Read<Rust.RequestText_Serialize, Memory.ReceiptRequest>,
    Read<Rust.Preview_Serialize, Memory.Preview>,
    Read<Rust.Compared_Serialize, Memory.StrategyOutcome>,
    Read<Rust.Summary_Serialize, Memory.Summary>,
    Read<Rust.StateValue_Serialize, Memory.StateValue>,
    Read<Rust.PluginInfo_Serialize, Memory.Plugin>,
    Read<Rust.Citation, Memory.Citation>,
    Read<Rust.ArchivePlace, Archive.ArchivePlace>,
    Read<Rust.ArchiveFile, Archive.ArchiveFile>,
    Read<Rust.ArchiveExport_Serialize, Archive.ArchiveExport>,
    Read<Rust.ArchiveReport, Archive.ArchiveReport>,
    Read<Rust.ArchiveProgress, Archive.ArchiveProgress>,
    Read<Rust.PendingArchive, Archive.PendingArchive>,
    Read<Rust.ArchiveUndo, Archive.ArchiveUndo>,
    Read<Rust.EnvelopeExport, Archive.EnvelopeExport>,
    Read<Rust.EnvelopeImport_Serialize, Archive.EnvelopeImport>,
    Taken<Archive.ArchiveProtection, Rust.ArchiveProtection>,
    Taken<Archive.ArchiveSecret, Rust.ArchiveSecret>,
    Taken<Archive.EnvelopeKey, Rust.EnvelopeKey>,
    Read<Rust.Connection_Serialize, Connections.Connection>,
    Read<Rust.Access_Serialize, Connections.Access>,
    Read<Rust.ConnectionSetup, Connections.ConnectionSetup>,
    Read<Rust.OperationPage_Serialize, Operations.OperationPage>,
    Read<Rust.Operation_Serialize, Operations.Operation>,
    Taken<Operations.OperationPageQuery, Rust.OperationPageQuery_Deserialize>,
    Taken<Operations.OperationRule, Rust.OperationRule>,
    Read<Rust.ToolServerView_Serialize, Tools.ToolServerView>,
    Read<Rust.ToolServerTest_Serialize, Tools.ToolServerTest>,
    Read<Rust.ToolChoice, Tools.ToolChoice>,
    Taken<Tools.ToolServerDraft, Rust.ToolServerDraft_Deserialize>,
    Taken<Tools.ToolRule, Rust.ToolRule>,
    Taken<Tools.ToolAnswer, Rust.ToolAnswer>,
    Read<Rust.ServerStatus_Serialize, Connections.ServerStatus>,
    Read<Rust.NetworkPage_Serialize, Diagnosis.NetworkPage>,
    Read<Rust.LogPage, Diagnosis.LogPage>,
    Read<Rust.CrashInfo, Diagnosis.CrashInfo>,
    Taken<Connections.ConnectionGrant, Rust.ConnectionGrant_Deserialize>,
    Taken<Connections.ServerSettings, Rust.ServerSettings>,
    Taken<Window.UnlockMethod, Rust.UnlockMethod>,
    Taken<Window.RecoveryWords, Rust.RecoveryWords>,
    Taken<Keys.RootSecrets, Rust.RootSecrets_Deserialize>,
    Taken<Keys.SlotName, Rust.SlotName>,
    Taken<Window.ContextDraft, Rust.ContextDraft_Deserialize>,
    Taken<Window.ContextPatch, Rust.ContextPatch_Deserialize>,
    Taken<Life.ContextQuery, Rust.ContextQuery_Deserialize>,
    Taken<Life.PersonaDraft, Rust.PersonaDraft>,
    Taken<Window.PresetOverrides, Rust.PresetOverrides_Deserialize>,
    Taken<Life.PresetDraft, Rust.PresetDraft_Deserialize>,
    Taken<Life.PresetQuery, Rust.PresetQuery_Deserialize>,
    Taken<Life.ConversationQuery, Rust.ConversationQuery_Deserialize>,
    Taken<Life.DraftKey, Rust.DraftKey>,
    Taken<Life.ExportFormat, Rust.ExportFormat>,
    Taken<Life.SearchQuery, Rust.SearchQuery_Deserialize>,
    Taken<Life.TrashId, Rust.TrashId>,
    Taken<Window.Vote, Rust.Vote>,
    Taken<Window.SendRequest, Rust.SendRequest_Deserialize>,
    Taken<Window.ProviderDraft, Rust.ProviderDraft_Deserialize>,
    Taken<Window.Settings, Rust.Settings_Deserialize>,
  ]
>;
