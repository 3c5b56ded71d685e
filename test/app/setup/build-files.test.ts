/** Flags that `selvage init` takes from build files: one small repository for each rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBuildFiles, type BuildFacts } from '../../../src/app/setup/build-files.ts';

interface Expected {
  readonly flags: readonly string[];
  /** Further flags of single units. */
  readonly own?: Readonly<Record<string, readonly string[]>>;
  readonly architectures?: readonly string[];
  /** `place: flags`, in any order; not compared if missing. */
  readonly leftOut?: readonly string[];
  readonly switches?: readonly string[];
}

type Case = readonly [name: string, files: Readonly<Record<string, string>>, expected: Expected];

function read(files: Readonly<Record<string, string>>): BuildFacts {
  const paths = Object.keys(files).sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
  const isSource = (path: string): boolean => /\.(?:cu|cuh|h|cpp)$/.test(path);
  return readBuildFiles(
    paths.filter((path) => !isSource(path) && !/\.(?:cmake|mk)$/.test(path)),
    {
      units: paths.filter((path) => path.endsWith('.cu')),
      sources: paths.filter(isSource),
      text: (path) => files[path],
      isFile: (path) => Object.hasOwn(files, path),
      isFolder: (path) => paths.some((file) => file.startsWith(`${path}/`)),
      toolkit: '13.2',
    },
  );
}

function check([name, files, expected]: Case): void {
  const facts = read(files);
  assert.deepEqual(facts.flags.toSorted(), expected.flags.toSorted(), name);
  const own = Object.fromEntries([...facts.unitFlags].filter(([, flags]) => flags.length > 0).map(([unit, flags]) => [unit, [...flags]]));
  assert.deepEqual(own, expected.own ?? {}, name);
  if (expected.architectures !== undefined) assert.deepEqual(facts.architectures, expected.architectures, name);
  if (expected.leftOut !== undefined)
    assert.deepEqual(facts.leftOut.map(({ place, flags }) => `${place}: ${flags.join(' ')}`).toSorted(), expected.leftOut.toSorted(), name);
  assert.deepEqual([...facts.switches.values()].flat(), expected.switches ?? [], name);
}

/** A project with the target `k` of `k.cu`, and further lines. */
const cmake = (lines: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  'CMakeLists.txt': `project(p LANGUAGES CXX CUDA)\nadd_library(k k.cu)\n${lines}\n`,
  'k.cu': '',
  'include/a.h': '',
  ...more,
});

const cmakeCases: readonly Case[] = [
  [
    'a list that grows',
    cmake(
      'list(APPEND V include)\nlist(APPEND D A=1 B)\ntarget_include_directories(k PUBLIC ${V})\ntarget_compile_definitions(k PRIVATE ${D})',
    ),
    { flags: ['-Iinclude', '-DA=1', '-DB'], leftOut: [] },
  ],
  [
    'quoted and bracket arguments, comments, nested references',
    cmake(
      '#[[ set(N x)\n]] set(N "X") # set(N Y)\nset(X_NAME "A;B") set([=[R]=] C)\ntarget_compile_definitions(k PRIVATE ${${N}_NAME} "${R}" [[D]])',
    ),
    { flags: ['-DA', '-DB', '-DC', '-DD'] },
  ],
  [
    'an option decides a condition by its default',
    cmake(
      'option(FAST "" ON)\noption(SLOW "" OFF)\nif(FAST AND NOT SLOW)\ntarget_compile_definitions(k PRIVATE FAST=1)\nelse()\ntarget_compile_definitions(k PRIVATE FAST=0)\nendif()',
    ),
    { flags: ['-DFAST=1'], leftOut: ['CMakeLists.txt:8: -DFAST=0'] },
  ],
  [
    'a package that may be missing decides nothing',
    cmake(
      'find_package(MPI)\nif(MPI_FOUND)\ntarget_compile_definitions(k PRIVATE HAVE_MPI)\nlist(APPEND L -DLISTED)\nset(S -DSET)\nendif()\ntarget_compile_options(k PRIVATE ${L} ${S} --use_fast_math)',
    ),
    {
      flags: ['--use_fast_math'],
      leftOut: ['CMakeLists.txt:5: -DHAVE_MPI', 'CMakeLists.txt:6: -DLISTED', 'CMakeLists.txt:7: -DSET'],
    },
  ],
  [
    'both branches of an undecided condition count only for what they share',
    cmake('if($ENV{X})\nset(L -DA=1 -DB=1)\nelse()\nset(L -DA=1 -DB=2)\nendif()\ntarget_compile_options(k PRIVATE ${L})'),
    { flags: ['-DA=1'] },
  ],
  [
    'an unknown command leaves its variables unknown',
    cmake('set(A -DA=1)\nset(B -DB=1)\nfind_program(A tool)\ntarget_compile_options(k PRIVATE ${A} ${B})'),
    { flags: ['-DB=1'] },
  ],
  [
    'Linux, GCC and nvcc are known',
    cmake(
      'if(WIN32 OR MSVC)\ntarget_compile_definitions(k PRIVATE W)\nelseif(UNIX)\ntarget_compile_definitions(k PRIVATE U)\nendif()\nif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)\ntarget_compile_definitions(k PRIVATE NEW)\nendif()\nif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER 13.2.0)\ntarget_compile_definitions(k PRIVATE NEWER)\nendif()',
    ),
    { flags: ['-DU', '-DNEW'], leftOut: ['CMakeLists.txt:12: -DNEWER'] },
  ],
  [
    'loops, functions and parsed arguments',
    {
      'CMakeLists.txt':
        'function(add_kernel name)\ncmake_parse_arguments(A "FAST" "LEVEL" "FILES" ${ARGN})\nadd_library(${name} ${A_FILES})\nif(A_FAST)\ntarget_compile_definitions(${name} PRIVATE LEVEL=${A_LEVEL})\nendif()\nendfunction()\nforeach(n IN ITEMS a b)\nadd_kernel(${n} FAST LEVEL 3 FILES ${n}.cu)\nendforeach()\n',
      'a.cu': '',
      'b.cu': '',
    },
    { flags: ['-DLEVEL=3'] },
  ],
  [
    'values for a caller, and those of a branch that is not taken',
    cmake(
      'function(find out)\nif(OFF)\nset(${out} -DNO PARENT_SCOPE)\nelse()\nset(${out} -DYES PARENT_SCOPE)\nendif()\nif(OFF)\nset(${out} -DNO PARENT_SCOPE)\nlist(APPEND LATER -DLATER)\nendif()\nset(LOCAL -DLOCAL)\nendfunction()\nfind(V)\nget_directory_property(P PARENT_DIRECTORY)\nif(P)\nset(V -DCHILD)\nendif()\ntarget_compile_options(k PRIVATE ${V} ${LOCAL} ${LATER})',
    ),
    { flags: ['-DYES'] },
  ],
  [
    'loops that end early, and loops over numbers and lists',
    cmake(
      'set(L a b c)\nforeach(x IN LISTS L ITEMS d)\nif(x STREQUAL b)\nbreak()\nendif()\nlist(APPEND D ${x})\nendforeach()\nforeach(i RANGE 2)\nlist(APPEND D N${i})\nendforeach()\nforeach(i RANGE 4 6 2)\nlist(APPEND D M${i})\nendforeach()\ntarget_compile_definitions(k PRIVATE ${D})',
    ),
    { flags: ['-Da', '-DN0', '-DN1', '-DN2', '-DM4', '-DM6'] },
  ],
  [
    'targets that link to each other, and a project inside of another one',
    cmake(
      'add_library(m m.cpp)\ntarget_link_libraries(m PUBLIC k)\ntarget_link_libraries(k PUBLIC m)\ntarget_compile_definitions(m PUBLIC M)',
      { 'sub/CMakeLists.txt': 'project(s CUDA)\nadd_library(s s.cu ../k.cu)\ntarget_compile_definitions(s PRIVATE S)\n', 'sub/s.cu': '' },
    ),
    { flags: [], own: { 'k.cu': ['-DM'], 'sub/s.cu': ['-DS'] }, leftOut: [] },
  ],
  [
    'generator expressions',
    cmake(
      'target_compile_options(k PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math> $<$<COMPILE_LANGUAGE:CXX>:-DCXX> "$<$<AND:$<CONFIG:Debug>,$<COMPILE_LANGUAGE:CUDA>>:-DDEBUG;-G>" $<$<NOT:$<BOOL:OFF>>:-DON> $<$<CXX_COMPILER_ID:Clang>:-DCLANG> $<TARGET_PROPERTY:x,y>)\ntarget_include_directories(k PUBLIC $<BUILD_INTERFACE:include> $<INSTALL_INTERFACE:k>)',
      { 'k/b.h': '' },
    ),
    { flags: ['--use_fast_math', '-DON', '-Iinclude'] },
  ],
  [
    'requirements of linked targets',
    cmake(
      'add_library(h INTERFACE)\ntarget_include_directories(h INTERFACE include)\ntarget_compile_definitions(h INTERFACE H=1)\nadd_library(m m.cpp)\ntarget_link_libraries(m PUBLIC h)\ntarget_compile_definitions(m PRIVATE HIDDEN PUBLIC SHOWN)\nadd_library(a::m ALIAS m)\ntarget_link_libraries(k PRIVATE a::m)',
    ),
    { flags: ['-Iinclude', '-DH=1', '-DSHOWN'] },
  ],
  [
    'a private link is not passed on',
    cmake(
      'add_library(h INTERFACE)\ntarget_compile_definitions(h INTERFACE H=1)\nadd_library(m m.cpp)\ntarget_link_libraries(m PRIVATE h)\ntarget_link_libraries(k m)',
    ),
    { flags: [] },
  ],
  [
    'folders, included files, globs and properties of directories',
    {
      'CMakeLists.txt':
        'project(p CUDA)\nset(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --use_fast_math")\ninclude(cmake/settings.cmake)\ninclude_directories(include)\nadd_subdirectory(src)\n',
      'cmake/settings.cmake': 'add_compile_definitions(TOP)\nset(CMAKE_CUDA_STANDARD 20)\n',
      'include/a.h': '',
      'src/CMakeLists.txt':
        'file(GLOB FILES CONFIGURE_DEPENDS "*.cu")\nadd_library(k ${FILES})\nset_target_properties(k PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES "80-real;90a")\n',
      'src/k.cu': '',
      'src/deep/other.cu': '',
    },
    { flags: ['-std=c++20', '--use_fast_math', '-DTOP', '-Iinclude', '-rdc=true'], architectures: ['sm_80', 'sm_90'] },
  ],
  ['the standard of C++ applies to CUDA', cmake('set_property(TARGET k PROPERTY CXX_STANDARD 14)'), { flags: ['-std=c++14'] }],
  [
    'a standard of CUDA precedes that of C++',
    cmake('set_target_properties(k PROPERTIES CXX_STANDARD 20 CUDA_STANDARD 17)'),
    { flags: ['-std=c++17'] },
  ],
  ['a required feature', cmake('target_compile_features(k PUBLIC cxx_std_20)'), { flags: ['-std=c++20'] }],
  [
    'FindCUDA',
    {
      'CMakeLists.txt':
        'find_package(CUDA)\nlist(APPEND CUDA_NVCC_FLAGS --use_fast_math -DOLD)\ncuda_add_executable(k k.cu OPTIONS -DMORE)\n',
      'k.cu': '',
    },
    { flags: ['--use_fast_math', '-DOLD', '-DMORE'] },
  ],
  [
    'definitions of one of several targets belong to its files',
    {
      'CMakeLists.txt':
        'project(p CUDA)\nadd_compile_definitions(ALL)\nadd_executable(a a.cu)\nadd_executable(b b.cu)\ntarget_compile_definitions(b PRIVATE B=1)\nadd_executable(host h.cpp)\ntarget_compile_definitions(host PRIVATE HOST)\n',
      'a.cu': '',
      'b.cu': '',
      'unused.cu': '',
    },
    { flags: ['-DALL'], own: { 'b.cu': ['-DB=1'] }, leftOut: [] },
  ],
  [
    'the first of two targets with one file is taken',
    {
      'CMakeLists.txt':
        'project(p CUDA)\nadd_executable(a t.cu)\ntarget_compile_definitions(a PRIVATE BUILDER=one)\nadd_executable(b t.cu)\ntarget_compile_definitions(b PRIVATE BUILDER=two)\nadd_executable(c c.cu)\n',
      't.cu': '',
      'c.cu': '',
    },
    { flags: [], own: { 't.cu': ['-DBUILDER=one'] }, leftOut: ['CMakeLists.txt:4: -DBUILDER=two'] },
  ],
  [
    'include folders of different targets are common if no header is in two of them',
    {
      'CMakeLists.txt':
        'project(p CUDA)\nadd_library(a a.cu)\ntarget_include_directories(a PRIVATE x)\nadd_library(b b.cu)\ntarget_include_directories(b PRIVATE y)\n',
      'a.cu': '',
      'b.cu': '',
      'x/x.h': '',
      'y/y.h': '',
    },
    { flags: ['-Ix', '-Iy'] },
  ],
  [
    'include folders with headers of one name stay separate',
    {
      'CMakeLists.txt':
        'project(p CUDA)\nadd_library(a a.cu)\ntarget_include_directories(a PRIVATE x)\nadd_library(b b.cu)\ntarget_include_directories(b PRIVATE y)\n',
      'a.cu': '',
      'b.cu': '',
      'x/z.h': '',
      'y/z.h': '',
    },
    { flags: [], own: { 'a.cu': ['-Ix'], 'b.cu': ['-Iy'] } },
  ],
  [
    'a switch that CUDA files need',
    cmake(
      'option(TESTS "" OFF)\nif(TESTS)\nadd_executable(t t.cu)\ntarget_compile_definitions(t PRIVATE TEST)\ntarget_compile_definitions(k PRIVATE TESTED)\nendif()',
      { 't.cu': '' },
    ),
    { flags: [], own: { 't.cu': ['-DTEST'] }, switches: ['TESTS=ON'] },
  ],
  [
    'a value of another kind is a switch, too',
    cmake('set(BACKEND "cpu" CACHE STRING "")\nif(BACKEND STREQUAL "cuda")\nadd_subdirectory(gpu)\nendif()', {
      'gpu/CMakeLists.txt': 'add_library(g g.cu)\ntarget_compile_definitions(g PRIVATE G)\n',
      'gpu/g.cu': '',
    }),
    { flags: [], own: { 'gpu/g.cu': ['-DG'] }, switches: ['BACKEND=cuda'] },
  ],
  [
    'a value that a pull request may not set is left out',
    cmake('target_compile_definitions(k PRIVATE "TEXT=\\"a b\\"" OK=1)'),
    { flags: ['-DOK=1'], leftOut: ['CMakeLists.txt:2: -DTEXT="a b"'] },
  ],
  [
    'a folder outside of the repository, and one of the build',
    cmake('target_include_directories(k PRIVATE /usr/include ../x ${CMAKE_CURRENT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/include)'),
    { flags: ['-Iinclude'] },
  ],
];

test('CMake', () => cmakeCases.forEach(check));

const make = (text: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  Makefile: text,
  'k.cu': '',
  'inc/a.h': '',
  ...more,
});

const makeCases: readonly Case[] = [
  [
    'the default of a variable decides a condition',
    make(
      'P ?= BF16\nifeq ($(P), FP32)\nPF = -DFP32\nelse ifeq ($(P), FP16)\nPF = -DFP16\nelse\nPF = -DBF16\nendif\nk: k.cu\n\tnvcc $(PF) $^ -o $@\n',
    ),
    { flags: ['-DBF16'], leftOut: ['Makefile:3: -DFP32', 'Makefile:5: -DFP16'] },
  ],
  [
    'a program decides nothing',
    make(
      'F = -DALWAYS\nifeq ($(shell test -d /x && echo yes),yes)\nF += -DMAYBE\nendif\nN := $(shell uname)\n%.o: %.cu\n\t@$(NVCC) $(F) -DN=$(N) -c $< -o $@\n',
    ),
    { flags: ['-DALWAYS'], leftOut: ['Makefile:3: -DMAYBE', 'Makefile:6: -DN=…'] },
  ],
  [
    'branches of an undecided condition count only for what they share',
    make('ifdef HOME\nF = -DA=1 -DB=1\nelse\nF = -DA=1 -DB=2\nendif\nk: k.cu\n\tnvcc $(F) $<\n'),
    { flags: ['-DA=1'] },
  ],
  [
    'late and immediate expansion',
    make('A = 1\nLATE = -DLATE=$(A)\nNOW := -DNOW=$(A)\nLATE += -DM\nA = 2\nA ?= 3\nk: k.cu\n\tnvcc $(LATE) $(NOW) -o k k.cu\n'),
    { flags: ['-DLATE=2', '-DNOW=1', '-DM'] },
  ],
  [
    'functions and references with a pattern',
    make(
      'L = a b\nD := $(addprefix -D,$(L)) $(L:%=-DX_%) $(patsubst %,-DY_%,$(filter-out b,$(L))) $(foreach i,1 2,-DZ$(i)) $(if $(strip $(L)),-DIF,-DELSE)\ndefine call_it\n-DC_$(1)\nendef\nk: k.cu\n\tnvcc $(D) $(call call_it,q) $<\n',
    ),
    { flags: ['-Da', '-Db', '-DX_a', '-DX_b', '-DY_a', '-DZ1', '-DZ2', '-DIF', '-DC_q'] },
  ],
  [
    'ifneq, ifdef, ifndef, quotes and comments',
    make(
      'ON = 1 # yes\nifneq ($(ON),)\nF += -DNEQ\nendif\nifdef ON\nF += -DDEF\nendif\nifndef ON\nF += -DNDEF\nendif\nifeq "a" \'a\'\nF += -DQ\nendif\nifdef OFF\nF += -DOFF\nendif\nk: k.cu ; nvcc $(F) $<\n',
    ),
    { flags: ['-DNEQ', '-DDEF', '-DQ'] },
  ],
  [
    'included files, VPATH, folders and a compiler that is searched for',
    {
      'src/Makefile':
        'include ../common.mk\nVPATH = ../lib\nCUDA_NVCC := $(shell which nvcc)\n../obj/%.o: %.cu\n\t$(CUDA_NVCC) $(FLAGS) -I../inc -I /usr/local/cuda/include -gencode arch=compute_86,code=sm_86 -c $<\n',
      'common.mk': 'FLAGS = -std=c++20 --expt-relaxed-constexpr\n',
      'inc/a.h': '',
      'src/a.cu': '',
      'lib/b.cu': '',
      'other/c.cu': '',
    },
    { flags: ['-std=c++20', '--expt-relaxed-constexpr', '-Iinc'], architectures: ['sm_86'] },
  ],
  [
    'an explicit rule precedes a pattern',
    make('%: %.cu\n\tnvcc -DPATTERN $< -o $@\nk: k.cu\n\tnvcc -DOWN k.cu -o k\n', { 'j.cu': '' }),
    { flags: [], own: { 'j.cu': ['-DPATTERN'], 'k.cu': ['-DOWN'] } },
  ],
  [
    'a nearer makefile has its own patterns',
    make('%.o: %.cu\n\tnvcc -DTOP -c $<\n', { 'sub/Makefile': '.cu.o:\n\tnvcc -DSUB -c $<\n', 'sub/s.cu': '' }),
    { flags: [], own: { 'k.cu': ['-DTOP'], 'sub/s.cu': ['-DSUB'] } },
  ],
  [
    'a switch that CUDA files need, and flags for the host compiler',
    make(
      'GPU=0\nC = -DHOST\nOBJ = main.o\nifeq ($(GPU), 1)\nC += -DGPU\nOBJ += k.o\nendif\nall: $(OBJ)\n%.o: %.cu\n\tnvcc --compiler-options "$(C) -fPIC" -c $<\n',
    ),
    { flags: ['-DHOST', '-DGPU'], switches: ['GPU=1'], leftOut: [] },
  ],
  [
    'definitions that no recipe with nvcc uses are not reported',
    make('ifeq ($(OMP),1)\nCFLAGS += -DOMP\nendif\nm.o: m.c\n\t$(CC) $(CFLAGS) -c $<\nk: k.cu\n\tnvcc -DK $<\n'),
    { flags: ['-DK'], leftOut: [] },
  ],
  [
    'another system is not reported',
    make(
      'ifeq ($(OS),Windows_NT)\nF = -DWIN\nelse\nF = -DLINUX\nendif\nifneq ($(OS),Windows_NT)\nF += -DU\nelse\nF += -DW\nendif\nk: k.cu\n\tnvcc $(F) $<\n',
    ),
    { flags: ['-DLINUX', '-DU'], leftOut: [] },
  ],
  ['flags that the variable of the compiler contains', make('NVCC = /opt/bin/nvcc -DIN\nk: k.cu\n\t$(NVCC) $<\n'), { flags: ['-DIN'] }],
  ['a rule without a recipe adds prerequisites', make('%: %.cu\n\tnvcc -DP $< -o $@\nk: k.cu inc/a.h\n'), { flags: ['-DP'] }],
  [
    'flags without a recipe that is understood',
    make('NVCCFLAGS = -DN -arch=sm_90\n$(eval $(x))\n'),
    { flags: ['-DN'], architectures: ['sm_90'] },
  ],
];

test('Make', () => makeCases.forEach(check));

const torch = [
  '-D__CUDA_NO_HALF_OPERATORS__',
  '-D__CUDA_NO_HALF_CONVERSIONS__',
  '-D__CUDA_NO_BFLOAT16_CONVERSIONS__',
  '-D__CUDA_NO_HALF2_OPERATORS__',
  '--expt-relaxed-constexpr',
  '-DTORCH_API_INCLUDE_EXTENSION_H',
];
const importTorch = 'from torch.utils.cpp_extension import CUDAExtension\nimport os, torch\n';

const pythonCases: readonly Case[] = [
  [
    'variables, functions, conditions and paths',
    {
      'setup.py': `${importTorch}here = os.path.dirname(os.path.abspath(__file__))
flags = ["-O3"]
def more(args, level=2):
    return args + [f"-DLEVEL={level}"]
if bool(torch.version.hip):
    flags += ["-DHIP"]
elif os.getenv("SLOW", "FALSE") == "TRUE":
    flags.append("-DSLOW")
else:
    flags.append("-DFAST")  # the default
if os.path.exists("/opt/x"):
    flags.append("-DX")
folders = [os.path.join(here, "csrc", "include")]
mods = []
mods.append(CUDAExtension(name="p.ops", sources=["csrc/k.cu"], include_dirs=folders,
    define_macros=[("M", None), ("N", "3")], extra_compile_args={"cxx": ["-DHOST"], "nvcc": more(flags)}))
`,
      'csrc/include/a.h': '',
      'csrc/k.cu': '',
    },
    {
      flags: ['-std=c++17', ...torch, '-DTORCH_EXTENSION_NAME=ops', '-Icsrc/include', '-DM', '-DN=3', '-DFAST', '-DLEVEL=2'],
      leftOut: ['setup.py:10: -DSLOW', 'setup.py:14: -DX'],
    },
  ],
  [
    'globs, loops and an extension of setuptools',
    {
      'setup.py':
        'from setuptools import setup, Extension\nimport glob\nargs = []\nfor name in ["A", "B"]:\n    args += ["-D" + name]\nsetup(name="x", ext_modules=[Extension("x", glob.glob("src/*.cu"), extra_compile_args=[a for a in args if a != "-DB"] + ["-std=c++20"])])\n',
      'src/k.cu': '',
      'src/deep/j.cu': '',
    },
    { flags: ['-DA', '-std=c++20'] },
  ],
  [
    'a macro that an unknown condition chooses',
    {
      'setup.py':
        'import tool\nlevel = 1 if tool.fast() else 2\nsetup(ext_modules=[Extension("x", ["k.cu"], define_macros=[("L", level), ("K", 1)])])\n',
      'k.cu': '',
    },
    { flags: ['-DK=1'], leftOut: ['setup.py:3: -DL=…'] },
  ],
  [
    'extension modules of pyproject.toml',
    {
      'pyproject.toml':
        '[tool.setuptools]\next-modules = [\n  { name = "a", sources = ["a.cu"], define-macros = [["A", "1"]], include-dirs = ["inc"] },\n]\n',
      'sub/pyproject.toml':
        '[[tool.setuptools.ext-modules]]\nname = "b"\nsources = ["b.cu"]\nextra-compile-args = ["-DB", "-std=c++20"]\n\n[tool.other]\nx = 1\n',
      'a.cu': '',
      'sub/b.cu': '',
      'inc/a.h': '',
    },
    { flags: [], own: { 'a.cu': ['-Iinc', '-DA=1'], 'sub/b.cu': ['-std=c++20', '-DB'] } },
  ],
  ['a package without an extension module', { 'pyproject.toml': '[project]\nname = "a"\n', 'a.cu': '' }, { flags: [] }],
];

test('setup.py and pyproject.toml', () => pythonCases.forEach(check));

const bazelCases: readonly Case[] = [
  [
    'flags of the rule and of those that it depends on',
    {
      'MODULE.bazel': 'module(name = "m")\n',
      'k/BUILD':
        'COPTS = ["-std=c++20"]\ncuda_library(name = "k", srcs = glob(["*.cu"], exclude = ["skip.cu"]), copts = COPTS + select({":a": ["-DA"], "//conditions:default": ["-DD"]}), local_defines = ["L"], deps = ["//lib", ":near"])\ncc_library(name = "near", defines = ["NEAR"], copts = ["-DNOT"])\n',
      'lib/BUILD.bazel': 'cc_library(name = "lib", hdrs = ["inc/a.h"], includes = ["inc"], defines = ["LIB=1"])\n',
      'lib/inc/a.h': '',
      'k/k.cu': '',
      'k/skip.cu': '',
    },
    { flags: ['-I.', '-std=c++20', '-DD', '-DL', '-DNEAR', '-Ilib/inc', '-DLIB=1'] },
  ],
];

test('Bazel', () => bazelCases.forEach(check));

const mesonCases: readonly Case[] = [
  [
    'options, arguments, include folders and dependencies',
    {
      'meson.build':
        "project('p', 'cpp', 'cuda', default_options: ['cuda_std=c++17', 'cpp_std=c++20'])\nadd_project_arguments('-DALL', language: ['cpp', 'cuda'])\nadd_project_arguments('-DHOST', language: 'cpp')\nif get_option('x')\n  add_project_arguments('-DX', language: 'cuda')\nendif\nsubdir('src')\n",
      'src/meson.build':
        "inc = include_directories('inc')\ndep = declare_dependency(include_directories: inc, compile_args: ['-DDEP'])\nnames = ['k.cu']\nnames += files('j.cu')\nexecutable('k', names, cuda_args: ['-DK'] + (host_machine.system() == 'linux' ? ['-DL'] : ['-DW']), dependencies: [dep])\n",
      'src/k.cu': '',
      'src/j.cu': '',
      'src/inc/a.h': '',
    },
    { flags: ['-std=c++17', '-DALL', '-Isrc/inc', '-DK', '-DL', '-DDEP'], leftOut: ['meson.build:4: -DX'] },
  ],
  [
    'loops, and targets with different flags',
    {
      'meson.build':
        "project('p', 'cuda')\nforeach n : ['a', 'b']\n  executable(n, n + '.cu', cuda_args: ['-DN_' + n, '-DALL'])\nendforeach\n",
      'a.cu': '',
      'b.cu': '',
    },
    { flags: ['-DALL'], own: { 'a.cu': ['-DN_a'], 'b.cu': ['-DN_b'] } },
  ],
];

test('Meson', () => mesonCases.forEach(check));

test('of two build systems the top one is taken for a file', () => {
  check([
    'CMake above Make',
    {
      'CMakeLists.txt': 'project(p CUDA)\nadd_library(k s/k.cu)\ntarget_compile_definitions(k PRIVATE C)\n',
      's/Makefile': '%.o: %.cu\n\tnvcc -DM -arch=sm_90 -c $<\n',
      's/k.cu': '',
      's/j.cu': '',
    },
    { flags: [], own: { 's/k.cu': ['-DC'], 's/j.cu': ['-DM'] }, leftOut: [] },
  ]);
});
