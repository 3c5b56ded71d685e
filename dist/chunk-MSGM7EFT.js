import{createRequire as nodeCreateRequire}from'node:module';const require=nodeCreateRequire(import.meta.url);
function outermost(location){let frame=location;for(;frame.inlinedAt;)frame=frame.inlinedAt;return frame}export{outermost};
