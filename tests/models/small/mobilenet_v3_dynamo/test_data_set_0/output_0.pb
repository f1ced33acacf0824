
BlogitsJ(Ê÷¼C¢l<IßP<£ƒ»˜k6½ß‹Ý<hÍ¼<U=¼6YÐ¼J”<