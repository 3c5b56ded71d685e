import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
import{UsageError,exitCodes,git,includingUnits,isHeader,isUnit,kindOf,listFiles,mayBeRead,openLaunchIndex,openSourceTree,publishedAction,publishedTag,relativeTo,repositoryRoot,writeMessage,writeOutput}from"./chunk-core.js";import{cacheFolder}from"./chunk-system-cache-folder.js";import"./chunk-required-node-url.js";import{dirname_,existsSync_,isAbsolute_,join_,mkdirSync_,posix_,readFileSync_,realpathSync_,resolve_}from"./chunk-required-node-fs.js";import"./chunk-diff-libesm-convert-dmp.js";import"./chunk-empty.js";async function actionName(file,environment){let published=`${publishedAction}@${publishedTag}`;if(kindOf(file)===void 0)return published;let real=realpathSync_(file);return ofWorkflow(real,environment)??await ofClone(real,environment)??published}function isPublished(action){return!action.startsWith("OWNER/")}function ofWorkflow(file,environment){let[name="",ref="",folder=""]=["REPOSITORY","REF","PATH"].map(word=>environment[`GITHUB_ACTION_${word}`]);return kindOf(folder)==="folder"&&!isAbsolute_(relativeTo(realpathSync_(folder),file))&&/^[\w.-]+\/[\w.-]+$/.test(name)&&/^[\w.][\w./-]*$/.test(ref)?`${name}@${ref}`:void 0}async function ofClone(file,environment){let root=repositoryRoot(file),manifest=root===void 0?void 0:mayBeRead(root,"action.yml");if(!(root===void 0||manifest===void 0||!/^name: Selvage$/m.test(readFileSync_(manifest,"utf8"))))try{let clone={root,environment},words=async(...command)=>{let{code,stdout}=await git(clone,command);return code===0?stdout.trim():""},name=repositoryOf(await words("config","--get","remote.origin.url")),tag=await words("tag","--list",publishedTag),ref=tag===""?await words("rev-parse","--verify","HEAD"):tag;return name===void 0||ref===""?void 0:`${name}@${ref}`}catch(error){if(error instanceof UsageError)return;throw error}}function repositoryOf(remote){return/^(?:(?:https?|ssh|git):\/\/[^/]+\/|[^/:]+@[^/:]+:\/?)([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(remote)?.[1]}var headerUnit="selvage/kernels.cu";function initialFiles(found,action){let files=[{path:".github/workflows/selvage.yml",text:workflowText(found,action)},{path:".selvage.yml",text:configurationText(found,action)}];return found.units.length===0&&found.loneHeaders.length>0?[...files,{path:headerUnit,text:unitText(found)}]:files}function workflowText({systems,needsTorch,defaultBranch:defaultBranch2},action){let cmake=systems[0]==="cmake"?cmakeSteps:"";return`# Selvage checks the CUDA kernels that a pull request affects. It needs no GPU. \`selvage init\` wrote this file.
name: selvage

on:
  pull_request:
    types: [opened, synchronize, reopened, ready_for_review]
  # A push to the default branch gets a check run, and its results are kept for pull requests: what they do not change is
  # not compiled again. Started by hand, the workflow checks every kernel; once fills the cache.
  push:
    branches: ['${defaultBranch2}']
  workflow_dispatch:
  # A merge queue waits for the check run of each group, whose pull requests were reviewed one by one.
  merge_group:

permissions: {}

concurrency:
  group: selvage-\${{ github.ref }}
  cancel-in-progress: \${{ github.event_name == 'pull_request' }}

jobs:
  selvage:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read # read the change
      pull-requests: write # post the review and the summary comment
      checks: write # create the check run with its annotations
    steps:
      - uses: actions/checkout@v7
        with:
          # The commit that the review is about, with the history down to its base.
          ref: \${{ github.event.pull_request.head.sha || github.sha }}
          fetch-depth: 0
          submodules: recursive
          persist-credentials: false
      # Any step that puts nvcc on PATH will do, and a container image that has it saves this step.
      - uses: Jimver/cuda-toolkit@v0.2.35
        with:
          cuda: '13.2.0'
          method: network
          sub-packages: '["nvcc", "cudart"]'
${cmake}${needsTorch?torchSteps:""}      - uses: ${action}${needsTorch?`
        with:
          nvcc-args: \${{ steps.torch.outputs.flags }}`:""}
`}var cmakeSteps=`      # Writes build/compile_commands.json, which has the flags of each file; nothing is built. Without it Selvage takes
      # the flags of .selvage.yml.
      - run: cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
        continue-on-error: true
`,torchSteps=`      # Headers of PyTorch, which the kernels include.
      - uses: actions/setup-python@v6
        with:
          python-version: '3.12'
      - run: pip install torch --index-url https://download.pytorch.org/whl/cpu
      - id: torch
        run: |
          python - <<'END' >> "$GITHUB_OUTPUT"
          import sysconfig, torch.utils.cpp_extension as extension
          folders = extension.include_paths() + [sysconfig.get_paths()['include']]
          print('flags=' + ' '.join('-isystem=' + folder for folder in folders))
          END
`;function configurationText(found,action){let{flags,architectures,foreign,unlaunched,units,loneHeaders}=found,[repository,version]=action.split("@"),quote=text=>`'${text.replaceAll("'","''")}'`,list=items=>items.map(item=>`    - ${quote(item)}
`).join(""),arch=chosenArchitecture(architectures),named=unlaunched.slice(0,10),more=unlaunched.length-named.length;return[`# yaml-language-server: $schema=https://raw.githubusercontent.com/${repository}/${version}/src/settings/configuration.schema.json
`,"# Configuration of Selvage for this repository. `selvage init` wrote this file from its kernels and build files.\n",`version: 1
`,arch===void 0?"":`arch: [${arch}] # of ${architectures.join(", ")} in the build files
`,flags.length===0?"":`nvcc:
  args:
${list(flags)}`,foreign.length===0?"":`paths:
  exclude:
${list(foreign.map(folder=>`${folder}/**`))}`,named.length===0?"":`# No launch names these kernels. Where Selvage finds none either, it checks them for all values of the dimensions. State
# what is known, here or in a comment above the kernel: // selvage: block=256 grid=64
#kernels:
${named.map(name=>`#  - { match: ${quote(name)}, block: 256 }
`).join("")}${more>0?`#  # and ${more} more
`:""}`,units.length>0&&loneHeaders.length>0?`# No .cu file includes these headers, so their kernels are not checked:
${loneHeaders.map(path=>`#   ${path}
`).join("")}`:""].join("")}function chosenArchitecture(architectures){if(architectures.length===0||architectures.includes("sm_80"))return;let usable=architectures.map(name=>Number(name.slice(3))).filter(number=>number>=75);return usable.length===0?void 0:`sm_${usable.find(number=>number>=80)??usable.at(-1)}`}function unitText({loneHeaders}){return[`// Includes the headers that define kernels, so that Selvage can compile them. Instantiate templates here:
`,`// template __global__ void scale<float>(float*, int);
`,...loneHeaders.map(path=>`#include "../${path}"
`)].join("")}var systemOf={"CMakeLists.txt":"cmake",Makefile:"make",makefile:"make",GNUmakefile:"make","setup.py":"setup.py",BUILD:"bazel","BUILD.bazel":"bazel","MODULE.bazel":"bazel",WORKSPACE:"bazel"};function isBuildFile(path){return Object.hasOwn(systemOf,posix_.basename(path))}var wantedFlag=/^(?:-std=\S+|--std=\S+|-I\S+|-isystem=?\S+|-D\S+|--expt-relaxed-constexpr|--expt-extended-lambda|--extended-lambda|-rdc=true|--relocatable-device-code=true|--use_fast_math|-use_fast_math)$/;function readBuildFiles(files,isFolder){let systems=new Set,flags=new Set,architectures=new Set;for(let[path,text]of files){let system=systemOf[posix_.basename(path)];systems.add(system);let said=readers[system](withoutComments(text));for(let flag of said.flags){let placed=placedFlag(flag,posix_.dirname(path),isFolder);placed!==void 0&&flags.add(placed)}for(let number of said.architectures)architectures.add(number)}let newest=[...flags].filter(flag=>/^-?-std=/.test(flag)).sort().at(-1);return{systems:[...systems],flags:[...newest===void 0?[]:[newest],...[...flags].filter(flag=>!/^-?-std=/.test(flag))],architectures:[...architectures].filter(number=>number>=50).sort((a,b)=>a-b).map(number=>`sm_${number}`)}}function withoutComments(text){return text.replaceAll(/(^|\s)#[^\n]*/g,"$1")}var readers={cmake:readCMake,make:readMake,"setup.py":readSetup,bazel:readBazel};function namedArchitectures(text){return[...text.matchAll(/\b(?:sm|compute)_(\d{2,3})\b/g)].map(([,number])=>Number(number))}function readCMake(text){let flags=[],numbers=[...text.matchAll(/CMAKE_(?:CUDA|CXX)_STANDARD\s+(\d+)|(?:cuda|cxx)_std_(\d+)/g)].map(([,set,feature])=>Number(set??feature)).filter(number=>number<90);numbers.length>0&&flags.push(`-std=c++${Math.max(...numbers)}`);for(let[,name,body=""]of text.matchAll(/\b((?:target_)?(?:include_directories|compile_definitions|compile_options)|add_compile_definitions|add_compile_options)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)/gi)){let words=(body.match(/"[^"]*"|[^\s"]+/g)??[]).map(word=>word.replaceAll('"',"")),own=name.toLowerCase().startsWith("target_")?words.slice(1):words;for(let word of own.filter(one=>!/^(?:PRIVATE|PUBLIC|INTERFACE|SYSTEM|BEFORE|AFTER)$/.test(one))){let plain=word.replace(/^\$<BUILD_INTERFACE:(.*)>$/,"$1").replace(/^\$<\$<COMPILE_LANGUAGE:CUDA>:(.*)>$/,"$1").replace(/^\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}\/?/,"./").replace(/^\$\{(?:PROJECT_SOURCE_DIR|CMAKE_SOURCE_DIR)\}\/?/,"//");plain===""||plain.includes("$")||(/include_directories/i.test(name)?flags.push(`-I${plain}`):/definitions/i.test(name)?flags.push(plain.startsWith("-D")?plain:`-D${plain}`):flags.push(...plain.split(";")))}}let listed=[...text.matchAll(/CMAKE_CUDA_ARCHITECTURES\s+([^)]*)\)|CUDA_ARCHITECTURES\s+([^)]*)\)/g)].flatMap(([,set,property])=>[...(set??property??"").matchAll(/(?<![\w.])(\d{2,3})(?=[af]?(?:-real|-virtual)?(?:[\s;")]|$))/g)].map(([,number])=>Number(number)));return{flags,architectures:[...listed,...namedArchitectures(text)]}}function readMake(text){let lines=text.replaceAll(/\\\n/g," ").split(`
`),variables=new Map;for(let line of lines){let[,name,operator,value=""]=/^\s*([A-Za-z_]\w*)\s*(\+|:|\?)?=\s*(.*)$/.exec(line)??[];name!==void 0&&variables.set(name,operator==="+"?`${variables.get(name)??""} ${value}`:value)}let expand=(word,depth=0)=>depth>5?word:word.replaceAll(/\$[({](\w+)[)}]/g,(whole,name)=>{let value=name==="CURDIR"?".":variables.get(name);return value===void 0?whole:expand(value,depth+1)});return{flags:lines.flatMap(line=>expand(line).replace(/(-I|-isystem)\s+/g,"$1").split(/[\s"']+/)).filter(word=>!word.includes("$")),architectures:namedArchitectures(lines.join(`
`))}}function strings(text){return[...text.matchAll(/(?<![\w'"])(?:'([^'\n]*)'|"([^"\n]*)")/g)].map(([,single,double])=>single??double??"")}function readSetup(text){let own=[...text.matchAll(/['"]nvcc['"]\s*:\s*\[([^\]]*)\]|nvcc_(?:args|flags)\s*\+?=\s*\[([^\]]*)\]/g)].flatMap(([,a,b])=>strings(a??b??"")),folders=[...text.matchAll(/include_dirs\s*=\s*\[([^\]]*)\]/g)].flatMap(([,list])=>strings(list??"")),macros=[...text.matchAll(/define_macros\s*=\s*\[(.*?)\]\s*[,)]/gs)].flatMap(([,list=""])=>[...list.matchAll(/\(\s*['"](\w+)['"]\s*,\s*(?:['"]([^'"]*)['"]|None)\s*\)/g)].map(([,name,value])=>value===void 0?`-D${name}`:`-D${name}=${value}`));return{flags:[...own,...folders.map(folder=>`-I${folder}`),...macros],architectures:namedArchitectures(own.join(" "))}}function readBazel(text){let listOf=name=>[...text.matchAll(new RegExp(`\\b${name}\\s*=\\s*\\[([^\\]]*)\\]`,"g"))].flatMap(([,list])=>strings(list??""));return{flags:["-I//",...listOf("copts"),...listOf("includes").map(folder=>`-I${folder}`),...[...listOf("defines"),...listOf("local_defines")].map(define=>`-D${define}`)],architectures:namedArchitectures(text)}}function placedFlag(flag,folder,isFolder){if(!wantedFlag.test(flag))return;let[,option,path]=/^(-I|-isystem=?)(.+)$/.exec(flag)??[];if(path===void 0)return/["'`;&|<>]/.test(flag)?void 0:flag;let placed=path.startsWith("//")?path.slice(2):path.startsWith("/")?void 0:posix_.join(folder,path);if(placed===void 0||placed.startsWith(".."))return;let clean=posix_.normalize(placed===""?".":placed).replace(/(.)\/$/,"$1");return clean==="."||isFolder(clean)?`${option==="-I"?"-I":"-isystem="}${clean}`:void 0}var foreignFolder=/(?:^|\/)(?:third_party|third-party|3rdparty|thirdparty|vendor|external|extern|submodules)(?=\/)/;async function survey(root,environment){let tree=openSourceTree(root),sources=tree.sources(),foreign=new Set,isThirdParty=path=>{let match=foreignFolder.exec(path);return match&&isUnit(path)&&foreign.add(path.slice(0,match.index+match[0].length)),match!==null},built=listFiles(root,path=>posix_.basename(path)==="CMakeCache.txt").map(path=>posix_.dirname(path)),isBuilt=path=>built.some(folder=>folder!=="."&&path.startsWith(`${folder}/`)),own=sources.filter(path=>!isBuilt(path)&&!isThirdParty(path)),units=own.filter(isUnit),index=await openLaunchIndex({tree,environment,folder:cacheFolder(environment,"launches")}),kernels=new Map;for(let path of own)for(let name of index.source(path)?.kernels??[])kernels.set(name,[...kernels.get(name)??[],path]);let withKernels=[...new Set([...kernels.values()].flat())].filter(isHeader),including=withKernels.length>0?includingUnits(tree,withKernels):new Map,files=listFiles(root,isBuildFile).filter(path=>!foreignFolder.test(path)&&!isBuilt(path)).sort((a,b)=>a.split("/").length-b.split("/").length||(a<b?-1:1)).flatMap(path=>{let text=tree.text(path);return text===void 0?[]:[[path,text]]}),scans=sources.flatMap(path=>index.source(path)??[]),launched=new Set(scans.flatMap(scan=>scan.launched)),isCalled=name=>index.launching([name]).some(path=>{let scan=index.source(path);return scan!==void 0&&(scan.calls.length>0||scan.pastes)});return{...readBuildFiles(files,path=>kindOf(join_(root,path))==="folder"),units,defaultBranch:await defaultBranch({root,environment}),loneHeaders:withKernels.filter(path=>(including.get(path)??[]).length===0),unlaunched:[...kernels.keys()].filter(name=>!launched.has(name)&&!isCalled(name)).sort(),kernels:kernels.size,foreign:[...foreign].sort(),needsTorch:own.some(path=>(isUnit(path)||/\.cuh$/.test(path))&&(index.source(path)?.includes??[]).some(name=>/^(?:torch|ATen|c10)\//.test(name)))}}async function defaultBranch(repository){try{let told=await git(repository,["symbolic-ref","--quiet","--short","refs/remotes/origin/HEAD"]),name=told.stdout.trim().replace(/^origin\//,"");if(told.code===0&&/^[\w./-]+$/.test(name))return name;let old=await git(repository,["rev-parse","--verify","--quiet","refs/heads/master"]),usual=await git(repository,["rev-parse","--verify","--quiet","refs/heads/main"]);return old.code===0&&usual.code!==0?"master":"main"}catch(error){if(error instanceof UsageError)return"main";throw error}}async function initCommand({paths,options},services){let[folder=".",...others]=paths;if(others.length>0)throw new UsageError("`selvage init` takes one folder.");let start=resolve_(services.cwd,folder);if(kindOf(start)!=="folder")throw new UsageError(`${folder} is not a folder.`);let root=repositoryRoot(realpathSync_(start))??realpathSync_(start),{dryRun,force}=options.init,action=options.init.action??await actionName(services.assets.include,services.environment),found=await survey(root,services.environment);if(found.units.length===0&&found.loneHeaders.length===0)throw new UsageError(`There is no .cu file and no header with a kernel under ${folder}.`);let files=initialFiles(found,action);if(dryRun){for(let{path,text}of files)services.stdout.write(`# ${path}
${text}
`);return exitCodes.success}options.quiet||writeMessage(services,foundText(found));for(let file of files)writeMessage(services,write(root,file,force));return!isPublished(action)&&!options.quiet&&writeMessage(services,`replace ${action} in .github/workflows/selvage.yml by the repository of the action, or give it with --action`),exitCodes.success}function write(root,{path,text},force){let file=join_(root,path),isThere=existsSync_(file);return isThere&&readFileSync_(file,"utf8")===text?`${path} is as it should be`:isThere&&!force?`${path} is there already and was kept; --force replaces it, --dry-run prints the new one`:(mkdirSync_(dirname_(file),{recursive:!0}),writeOutput(file,text),`${isThere?"replaced":"wrote"} ${path}`)}function foundText({kernels,units,loneHeaders,systems,unlaunched}){let number=(amount,noun)=>`${amount} ${noun}${amount===1?"":"s"}`,built=systems.length===0?"no build file":`built by ${systems.join(", ")}`,open=unlaunched.length===0?"":`; no launch was found of ${unlaunched.length} of them`,where=units.length>0?number(units.length,".cu file"):number(loneHeaders.length,"header");return`found ${number(kernels,"kernel")} in ${where}, ${built}${open}`}export{initCommand};
