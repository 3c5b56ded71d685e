/**
 * The operations of SASS. The low 12 bits of an instruction and the architecture name one: the lowest nine the
 * operation, three the form of its operands. All entries were seen to disassemble as this mnemonic. From sm_100 on only
 * operations count that were found in code for that architecture (disassembled by nvdisasm 13.0 for it or as for sm_90,
 * or on lines of PTX with the same meaning), and the whole rows of memory accesses, atomics, barriers, fences, branches
 * and arithmetic of 64 bits, which were found unchanged. Any other code is not known.
 */

type OperationKind =
  | 'load'
  | 'store'
  | 'atomic'
  | 'copy'
  | 'copy-order'
  | 'mbarrier'
  | 'barrier'
  | 'cluster-barrier'
  | 'warp-barrier'
  | 'fence'
  | 'cache'
  | 'branch'
  | 'call'
  | 'return'
  | 'exit'
  | 'flow'
  | 'double'
  | 'special'
  | 'tensor'
  | 'float'
  | 'half'
  | 'convert'
  | 'integer'
  | 'move'
  | 'warp'
  | 'texture'
  | 'system'
  | 'graphics'
  | 'none';

type AccessSpace = 'global' | 'shared' | 'local' | 'generic' | 'constant' | 'surface';

/** A mnemonic, its codes in hexadecimal, and the first and the last architecture with these codes. */
type OpcodeRow = readonly [mnemonic: string, codes: string, since?: number, until?: number];

interface OpcodeGroup {
  readonly kind: OperationKind;
  readonly space?: AccessSpace;
  /** Executed once for the warp, on uniform registers. */
  readonly uniform?: true;
  readonly rows: readonly OpcodeRow[];
}

const opcodeGroups: readonly OpcodeGroup[] = [
  {
    kind: 'flow',
    rows: [
      ['ACQBULK', '82e', 90],
      ['BMOV', '355 356 357 956 957 b56 b57 d56 d57 f55 f56'],
      ['BPT', '95c'],
      ['BREAK', '942'],
      ['BSSY', '945'],
      ['BSYNC', '941'],
      ['ENDCOLLECTIVE', '91b', 90],
      ['NANOSLEEP', '35d 95d b5d d5d'],
      ['PMTRIG', '801'],
      ['PREEXIT', '82d', 90],
      ['RPCMOV', '352 353 952 954 b52 b54 d52 d54'],
      ['RTT', '94f', 75, 86],
      ['WARPGROUPSET', 'd5e', 90],
      ['YIELD', '946'],
    ],
  },
  {
    kind: 'graphics',
    rows: [
      ['AL2P', '920'],
      ['ALD', '321 521'],
      ['AST', '322 522'],
      ['IPA', '326 526 926 b26'],
      ['ISBERD', '923'],
      ['ISBEWR', '927'],
      ['LDTRAM', '3ad'],
      ['OUT', '324 924 d24'],
      ['PIXLD', '925'],
    ],
  },
  {
    kind: 'copy-order',
    rows: [
      ['ARRIVES', '9b0', 80],
      ['DEPBAR', '91a'],
      ['DEPBAR', 'd1a', 90],
      ['LDGDEPBAR', '9af', 80],
      ['UTMACMDFLUSH', '9b7', 90],
      ['WARPGROUP', '9c5', 90],
    ],
  },
  {
    kind: 'atomic',
    space: 'generic',
    rows: [
      ['ATOM', '38a 38b 98a'],
      ['ATOM', '3a2 9a2', 90],
    ],
  },
  {
    kind: 'atomic',
    space: 'global',
    rows: [
      ['ATOMG', '3a8 3a9 9a8'],
      ['ATOMG', '3a3 9a3', 90],
      ['RED', '98e', 75, 89],
      ['REDG', '98e 9a6', 90],
    ],
  },
  {
    kind: 'atomic',
    space: 'shared',
    rows: [
      ['ATOMS', '38c 38d 98c'],
      ['ATOMS', 'f8c', 80],
      ['ATOMS', '58d', 100],
      ['REDAS', 'dbe', 90],
    ],
  },
  {
    kind: 'system',
    rows: [
      ['B2R', '31c'],
      ['CS2R', '805'],
      ['GETLMEMBASE', '3c0'],
      ['LEPC', '34e'],
      ['LEPC', '94e', 90],
      ['QSPC', '3aa 9aa'],
      ['R2B', '31e', 75, 86],
      ['S2R', '919'],
      ['SETCTAID', '31f'],
      ['SETLMEMBASE', '3c1'],
      ['USETMAXREG', '3c8 9c8', 90],
      ['USETSHMSZ', '3c9 9c9', 90],
    ],
  },
  {
    kind: 'barrier',
    rows: [['BAR', '31d 51d 91d b1d']],
  },
  {
    kind: 'tensor',
    rows: [
      ['BGMMA', '9f2 df2', 90],
      ['BMMA', '23d'],
      ['DMMA', '23f', 80],
      ['HGMMA', '9f0 df0', 90],
      ['HMMA', '236', 75, 75],
      ['HMMA', '23c'],
      ['IGMMA', '9f1 df1', 90],
      ['IMMA', '237'],
      ['QGMMA', '9f3 df3', 90],
      ['QMMA', '27a', 89, 89],
    ],
  },
  {
    kind: 'integer',
    rows: [
      ['BMSK', '21b 81b a1b c1b'],
      ['BREV', '301 901 b01 d01'],
      ['FLO', '300 900 b00 d00'],
      ['IABS', '213 813 a13 c13'],
      ['IADD3', '210 810 a10 c10'],
      ['IDP', '226 a26 c26'],
      ['IMAD', '224 225 227 424 624 625 627 824 825 827 a24 a25 a27 c24 c25 c27 e24 e25 e27'],
      ['IMNMX', '217 817 a17 c17'],
      ['ISETP', '20c 80c a0c c0c'],
      ['LEA', '211 411 811 a11 c11'],
      ['LOP3', '212 812 a12 c12'],
      ['POPC', '309 909 b09 d09'],
      ['SGXT', '21a 81a a1a c1a'],
      ['SHF', '219 419 619 819 a19 c19 e19'],
      ['VABSDIFF', '214 414 614 814 a14 c14 e14'],
      ['VABSDIFF4', '215 415 615 815 a15 c15 e15'],
      ['VIADD', '236 836 a36 c36', 90],
      ['VIADDMNMX', '246 446 646 846 a46 c46 e46', 90],
      ['VIMNMX', '248 848 a48 c48', 90],
      ['VIMNMX3', '20f 80f a0f c0f', 90],
      ['IADD', '235 835 c35', 120],
    ],
  },
  {
    kind: 'branch',
    rows: [
      ['BRA', '947'],
      ['BRA', '547', 80],
      ['BRX', '949'],
      ['BRXU', '958'],
      ['JMP', '94a b4a'],
      ['JMP', '54a 74a', 80],
      ['JMX', '94c'],
      ['JMXU', '959'],
    ],
  },
  {
    kind: 'call',
    rows: [['CALL', '343 344 943 944 b43']],
  },
  {
    kind: 'cache',
    rows: [
      ['CCTL', '98f d8f'],
      ['CCTLL', '990 d90'],
      ['CCTLT', '391'],
      ['CCTLT', 'b91 d91', 80],
      ['CGAERRBAR', '5ab', 90],
      ['ERRBAR', '9ab'],
      ['UBLKPF', '3bc', 90],
      ['UTMACCTL', '9b9', 90],
      ['UTMAPF', '3b8 5b8', 90],
    ],
  },
  {
    kind: 'move',
    rows: [
      ['CSMTEST', '80d'],
      ['MOV', '202 802 a02 c02'],
      ['MOV', '402', 120],
      ['MOVM', '23a'],
      ['P2R', '203 803 a03 c03'],
      ['PLOP3', '21d 21e 21f 81c a1d a1e a1f c1d c1e c1f'],
      ['PRMT', '216 416 616 816 a16 c16 e16'],
      ['R2P', '204 804 a04 c04'],
      ['SEL', '207 807 a07 c07'],
    ],
  },
  {
    kind: 'double',
    rows: [
      ['DADD', '229 429 629 e29'],
      ['DFMA', '22b 42b 62b 82b a2b c2b e2b'],
      ['DMUL', '228 828 a28 c28'],
      ['DSETP', '22a 42a 62a e2a'],
    ],
  },
  {
    kind: 'warp',
    rows: [
      ['ELECT', '82f', 90],
      ['MATCH', '3a1'],
      ['CREDUX', '2cc', 100, 119],
      ['REDUX', '3c4', 80],
      ['SHFL', '389 589 989 f89'],
      ['VOTE', '806'],
    ],
  },
  {
    kind: 'exit',
    rows: [
      ['EXIT', '94d'],
      ['KILL', '95b'],
    ],
  },
  {
    kind: 'convert',
    rows: [
      ['F2F', '910', 75, 80],
      ['F2F', '310 b10 d10'],
      ['F2F', 'b04 d04', 90],
      ['F2FP', '23e 43e 63e 83e a3e c3e e3e', 80],
      ['F2I', '311 911', 75, 89],
      ['F2I', '305 905 b05 b11 d05 d11'],
      ['F2IP', '243 443 643 843 a43 c43 e43', 86],
      ['FRND', '307 907 b07 d07'],
      ['FRND', '313 913 b13 d13', 80],
      ['I2F', '306 312 906 912 b06 b12 d06 d12'],
      ['I2FP', '245 845 a45 c45', 86],
      ['I2I', '238 838 a38 c38'],
      ['I2IP', '239 839 a39 c39'],
    ],
  },
  {
    kind: 'float',
    rows: [
      ['FADD', '221 421 621 e21'],
      ['FCHK', '302 902 b02 d02'],
      ['FFMA', '223 423 623 823 a23 c23 e23'],
      ['FMNMX', '209 809 a09 c09'],
      ['FMUL', '220 820 a20 c20'],
      ['FSEL', '208 808 a08 c08'],
      ['FSET', '20a 80a a0a c0a'],
      ['FSETP', '20b 80b a0b c0b'],
      ['FSWZADD', '822'],
    ],
  },
  {
    kind: 'fence',
    rows: [
      ['FENCE', '3c6', 90],
      ['MEMBAR', '992'],
    ],
  },
  {
    kind: 'texture',
    rows: [
      ['FOOTPRINT', '373 b72 b74 f74'],
      ['SUQUERY', '7b3 9b3 bb3 fb3', 86],
      ['TEX', '361 b60 b62 f60'],
      ['TLD', '367 b66 b68 f66'],
      ['TLD4', '364 b63 b65 f63'],
      ['TMML', '36a b69 b6b f69'],
      ['TXD', '36d b6c b6e f6c'],
      ['TXQ', '370 b6f b71 f6f'],
    ],
  },
  {
    kind: 'half',
    rows: [
      ['HADD2', '230 430 630 e30'],
      ['HFMA2', '231 431 631 831 a31 c31 e31'],
      ['HFMA2', '235 435 635 835 a35 c35 e35', 80, 90],
      ['HMNMX2', '240 840 a40 c40', 80],
      ['HMUL2', '232 832 a32 c32'],
      ['HSET2', '233 433 633 e33'],
      ['HSETP2', '234 434 634 e34'],
      ['VHMNMX', '247 847 a47 c47', 90],
    ],
  },
  {
    kind: 'load',
    space: 'generic',
    rows: [['LD', '980']],
  },
  {
    kind: 'load',
    space: 'constant',
    rows: [['LDC', '582 b82']],
  },
  {
    kind: 'load',
    space: 'global',
    rows: [
      ['LDG', '381 981'],
      ['LDG', '97e', 89, 89],
    ],
  },
  {
    kind: 'copy',
    rows: [
      ['LDGSTS', 'dae fae', 80],
      ['UBLKCP', '3ba', 90],
      ['UBLKRED', '3bb', 90],
      ['UTMALDG', '3b4 5b4', 90],
      ['UTMAREDG', '3b6', 90],
      ['UTMASTG', '3b5', 90],
    ],
  },
  {
    kind: 'load',
    space: 'local',
    rows: [['LDL', '983']],
  },
  {
    kind: 'load',
    space: 'shared',
    rows: [
      ['LDS', '984'],
      ['LDSM', '83b'],
    ],
  },
  {
    kind: 'special',
    rows: [['MUFU', '308 908 b08 d08']],
  },
  {
    kind: 'none',
    rows: [['NOP', '918']],
  },
  {
    kind: 'move',
    uniform: true,
    rows: [
      ['R2UR', '3c2', 75, 89],
      ['R2UR', '2ca', 90],
      ['UMOV', '882 c82'],
      ['UMOV', '482', 120],
      ['UP2UR', '883 c83'],
      ['UPLOP3', '29d 29e 29f 89c'],
      ['UPRMT', '296 896'],
      ['UR2UP', '884 c84'],
      ['USEL', '287 887'],
    ],
  },
  {
    kind: 'return',
    rows: [['RET', '950']],
  },
  {
    kind: 'system',
    uniform: true,
    rows: [
      ['CS2UR', '8cb', 120],
      ['S2UR', '9c3'],
      ['ULEPC', '3ce 9ce', 90],
    ],
  },
  {
    kind: 'store',
    space: 'generic',
    rows: [['ST', '385 985']],
  },
  {
    kind: 'store',
    space: 'shared',
    rows: [
      ['STAS', 'dbd', 90],
      ['STS', '388 988'],
      ['STSM', '844', 90],
    ],
  },
  {
    kind: 'store',
    space: 'global',
    rows: [
      ['STG', '386 986'],
      ['STG', '97f', 89, 89],
    ],
  },
  {
    kind: 'store',
    space: 'local',
    rows: [['STL', '387 987']],
  },
  {
    kind: 'atomic',
    space: 'surface',
    rows: [
      ['SUATOM', '394 396 593 595 793 795 f93 f95'],
      ['SURED', '3a0 59f 79f f9f'],
    ],
  },
  {
    kind: 'load',
    space: 'surface',
    rows: [['SULD', '797 799 998 99a b97 b99 f97 f99']],
  },
  {
    kind: 'store',
    space: 'surface',
    rows: [['SUST', '79b 79d 99c 99e b9b b9d f9b f9d']],
  },
  {
    kind: 'mbarrier',
    rows: [['SYNCS', '3b2 5a7 5b1 5b2 9a7 9b1 9b2', 90]],
  },
  {
    kind: 'integer',
    uniform: true,
    rows: [
      ['UBMSK', '29b 89b'],
      ['UBREV', '2be 8be'],
      ['UCLEA', '8bc cbc'],
      ['UFLO', '2bd 8bd'],
      ['UIADD3', '290 297 890 897'],
      ['UIMAD', '2a4 2a5 4a4 8a4 8a5'],
      ['UIMNMX', '285 885', 120],
      ['UISETP', '28c 88c'],
      ['ULEA', '291 491 891'],
      ['ULOP3', '292 892'],
      ['UPOPC', '2bf 8bf'],
      ['USGXT', '29a 89a'],
      ['USHF', '299 499 899'],
      ['UVIMNMX', '24a 84a', 120],
    ],
  },
  {
    kind: 'cluster-barrier',
    rows: [
      ['UCGABAR_ARV', '9c7', 90],
      ['UCGABAR_WAIT', 'dc7', 90],
    ],
  },
  {
    kind: 'convert',
    uniform: true,
    rows: [
      ['UF2FP', '2ba 4ba 8ba', 86],
      ['UI2F', '85a', 120],
      ['UI2FP', '25e', 120],
    ],
  },
  {
    kind: 'float',
    uniform: true,
    rows: [
      ['UFADD', '254 454', 120],
      ['UFMUL', '256', 120],
      ['UFSETP', '853', 120],
    ],
  },
  {
    kind: 'load',
    space: 'constant',
    uniform: true,
    rows: [
      ['ULDC', '8b8 ab9 abb'],
      ['LDCU', '7ac bac', 100],
    ],
  },
  {
    kind: 'warp',
    uniform: true,
    rows: [['VOTEU', '886']],
  },
  {
    kind: 'warp-barrier',
    rows: [
      ['WARPSYNC', 'b48 d48'],
      ['WARPSYNC', '348 948'],
    ],
  },
];

/** The kinds whose codes were found unchanged from sm_90 to sm_121. */
const unchanged: ReadonlySet<OperationKind> = new Set<OperationKind>([
  'load',
  'store',
  'atomic',
  'barrier',
  'cluster-barrier',
  'warp-barrier',
  'fence',
  'special',
  'double',
  'branch',
  'call',
  'return',
  'exit',
]);

/** Operations, by their lowest nine bits, that were found in code for sm_100, sm_103 and sm_110. */
const metOnDataCentreBlackwell =
  '002 003 004 005 006 007 008 009 00a 00b 00c 010 011 012 013 016 019 01c 020 021 023 024 025 027 028 029 ' +
  '02a 02b 02f 030 031 036 037 03b 03c 03f 045 046 048 082 086 087 08c 090 091 092 096 099 09b 09c 0a4 0a5 ' +
  '0bd 0be 0bf 0ca 100 101 102 105 106 107 108 109 110 111 112 118 119 11a 11b 11c 11d 141 142 143 144 145 ' +
  '146 147 148 149 14d 14e 150 152 153 155 156 158 15c 15d 160 180 181 182 183 184 185 186 187 188 189 18a 18c 18e ' +
  '18f 192 19d 1a1 1a7 1a8 1a9 1aa 1ab 1ae 1af 1b0 1b1 1b2 1c3 1c4 1c6 1c7 ';

/** Operations, by their lowest nine bits, that were found in code for sm_120 and sm_121. */
const metOnConsumerBlackwell =
  '002 003 004 005 006 007 008 009 00a 00b 00c 010 011 012 013 016 017 019 01c 020 021 023 024 025 027 028 ' +
  '029 02a 02b 030 031 035 037 03b 03c 03f 045 048 082 086 087 08c 090 091 092 096 097 099 09b 09c 0a4 0a5 ' +
  '0bd 0be 0bf 0ca 100 101 102 105 106 107 108 109 110 111 112 118 119 11a 11b 11c 11d 141 142 143 144 145 ' +
  '146 147 148 14d 14e 150 155 156 158 15c 15d 160 180 181 182 183 184 185 186 187 188 189 18a 18c 18e 18f ' +
  '192 19d 1a1 1a7 1a8 1a9 1aa 1ab 1ae 1af 1b0 1b1 1b2 1c3 1c4 1c6 1c7 ';

export interface Opcode {
  readonly mnemonic: string;
  readonly kind: OperationKind;
  readonly space?: AccessSpace;
  readonly uniform: boolean;
}

const tables = new Map<number, readonly (Opcode | undefined)[]>();

/**
 * The meaning of each code on an architecture.
 * @param version 90 for `sm_90`
 * @returns by code, 0 to 4095; undefined if unknown
 */
export function opcodesOf(version: number): readonly (Opcode | undefined)[] {
  const known = tables.get(version);
  if (known) return known;
  const met = version < 100 ? undefined : new Set(codesIn(version < 120 ? metOnDataCentreBlackwell : metOnConsumerBlackwell));
  const table: (Opcode | undefined)[] = Array.from({ length: 4096 });
  for (const { kind, space, uniform = false, rows } of opcodeGroups) {
    for (const [mnemonic, codes, since = 75, until = 121] of rows) {
      if (version < since || version > until) continue;
      const opcode = { mnemonic, kind, ...(space && { space }), uniform };
      for (const code of codesIn(codes)) {
        if (!met || met.has(code & 0x1ff) || unchanged.has(kind) || since >= 100) table[code] = opcode;
      }
    }
  }
  tables.set(version, table);
  return table;
}

const [blank, digit0, letterA] = [0x20, 0x30, 0x61];

/** Numbers of a text: in hexadecimal, with a blank between two. */
function codesIn(text: string): number[] {
  const codes: number[] = [];
  let code = -1;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    if (letter === blank) {
      if (code >= 0) codes.push(code);
      code = -1;
    } else code = (code < 0 ? 0 : code * 16) + letter - (letter < letterA ? digit0 : letterA - 10);
  }
  if (code >= 0) codes.push(code);
  return codes;
}
